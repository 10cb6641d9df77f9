import type { Problem } from '../base/problems.js';

/** What goes on in a session: it ends once, when nothing is under way any more, and applies one plan at a time. */
export class Life {
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #end: () => Promise<readonly Problem[]>;
  #ended: Promise<readonly Problem[]> | undefined;
  #applying = false;

  /** `end` lets go of all that the session holds, and gives warnings; it is called once. */
  constructor(end: () => Promise<readonly Problem[]>) {
    this.#end = end;
  }

  /** Aborted where the session ends: nothing new may be started. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Does something that the end of the session waits for. Throws a TypeError where it has ended. */
  async does<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended !== undefined) throw new TypeError('this session is closed');
    const doing = work();
    this.#underWay.add(doing);
    try {
      return await doing;
    } finally {
      this.#underWay.delete(doing);
    }
  }

  /** Does something beside which nothing else of the like may be done. Throws a TypeError where it would be. */
  async applies<T>(work: () => Promise<T>): Promise<T> {
    if (this.#applying) throw new TypeError('this session is applying a plan: wait for it, and plan again');
    this.#applying = true;
    try {
      return await this.does(work);
    } finally {
      this.#applying = false;
    }
  }

  /** Starts nothing more, waits for what is under way, which is finished and recorded, and lets go; gives warnings. */
  async end(): Promise<readonly Problem[]> {
    this.#stop.abort();
    this.#ended ??= Promise.allSettled([...this.#underWay]).then(() => this.#end());
    return await this.#ended;
  }
}
