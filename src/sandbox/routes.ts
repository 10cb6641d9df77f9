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
  return routes.flatMap((route) => {
    const template = route.path.split('/').slice(1);
    const isParameter = (index: number): boolean => template[index]?.startsWith(':') === true;
    const matches =
      template.length === segments.length &&
      segments.every((segment, index) => (isParameter(index) ? segment !== '' : segment === template[index]));
    return matches ? [{ route, params: segments.filter((_, index) => isParameter(index)) }] : [];
  });
}
