import type { Scope } from './options.js';

/** A route: a path template such as `/api/users/:id`, its handler, and the scopes, one of which the caller needs. */
export interface Route<Handler> {
  method: string;
  path: string;
  scopes: readonly Scope[];
  handler: Handler;
}

/** Builds a route. */
export function route<Handler>(
  method: string,
  path: string,
  scopes: Scope | readonly Scope[],
  handler: Handler,
): Route<Handler> {
  return { method, path, scopes: typeof scopes === 'string' ? [scopes] : scopes, handler };
}

/** A matching route, with the values of its path parameters in order. */
export interface RouteMatch<Handler> {
  route: Route<Handler>;
  params: string[];
}

/** The routes that match a decoded path, for any method. */
export function matchPath<Handler>(
  routes: readonly Route<Handler>[],
  segments: string[],
): RouteMatch<Handler>[] {
  const matches: RouteMatch<Handler>[] = [];
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
