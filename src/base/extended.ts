/**
 * An object and another one laid over it, as spreading both gives it, for what is made for each of very many objects or
 * requests. Node 20 gives each object a hidden class of its own that is spread and has a member more, which takes five
 * times as long to make and twenty to read, and half a kilobyte. Not for objects whose members have others' names.
 */
export function extended<A extends object, B extends object>(object: A, more: B): Omit<A, keyof B> & B {
  return Object.assign({}, object, more);
}
