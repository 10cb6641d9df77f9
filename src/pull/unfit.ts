/** Why members can't be edited one by one: an anchor or an alias would be touched, or they are written in some unusual way. */
export type Trouble = 'anchor' | 'shape';

/** Thrown where the members of a map or a list can't be edited one by one; caught within this room. */
export class Unfit extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble) {
    super(trouble);
    this.trouble = trouble;
  }
}
