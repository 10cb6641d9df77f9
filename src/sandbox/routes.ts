import type { Scope } from './options.js';

/** A route: a path template such as `/api/users/:id`, the scopes of which it needs one, and its handler. */
export interface Route<Handler> {
  method: string;
  path: string;
  scopes: readonly Scope[];
  handle: Handler;
}

/** A route that needs one of these scopes. */
export function route<Handler>(
  method: string,
  path: string,
  needs: Scope | readonly Scope[],
  handle: Handler,
): Route<Handler> {
  return { method, path, scopes: typeof needs === 'string' ? [needs] : needs, handle };
}

/** A matching route, with the values of its path parameters in order. */
export interface Match<Handler> {
  route: Route<Handler>;
  params: string[];
}

/** The routes that match a decoded path, with any method. */
export function matchPath<Handler>(routes: readonly Route<Handler>[], segments: string[]): Match<Handler>[] {
  const matches: Match<Handler>[] = [];
  for (const route of routes) {
    const params = matchSegments(route.path.split('/').slice(1), segments);
    if (params !== null) matches.push({ route, params });
  }
  return matches;
}

function matchSegments(template: string[], segments: string[]): string[] | null {
  if (template.length !== segments.length) return null;
  const params: string[] = [];
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':')) {
      if (segment === '') return null;
      params.push(segment);
    } else if (part !== segment) return null;
  }
  return params;
}
