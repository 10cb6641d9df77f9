import type { Answer } from '../http.js';

/** One page. An invalid number means page 1, and a number beyond the last page means the last page. */
export function paginate<T>(
  rows: readonly T[],
  asked: string | null,
  size: number,
  present: (row: T) => unknown,
): Answer {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const number = /^\+?\d+$/.test(asked ?? '') ? Number(asked) : 1;
  const page = Math.min(Math.max(1, number), pages);
  return {
    status: 200,
    body: {
      data: rows.slice((page - 1) * size, page * size).map(present),
      page_number: page,
      page_size: size,
      total_pages: pages,
      total_entries: rows.length,
    },
  };
}
