import { error } from '../base/problems.js';
import { withArticle } from '../base/words.js';
import { findReference, uniqueNames } from './by-name.js';
import type { ByName, Declared, Discovery, Identity, Kind, Naming } from './kind.js';
import { type ListName, nounOf, type References } from './references.js';

/** The parts of a kind whose objects belong to an owner, such as the templates of a backend. Documents name the owner by id or by name. */
export function ownedBy(list: ListName) {
  const noun = nounOf(list);
  const name = noun.replaceAll(' ', '_');
  const id = `${name}_id`;
  const byName: ByName = {
    id,
    names: [name],
    lists: () => [list],
    find({ [name]: called = '', ...rest }, references) {
      const found = findReference(noun, called, references);
      return typeof found === 'string' ? found : { ...rest, [id]: found.id };
    },
  };
  const nameOf = (identity: Identity, { [list]: owners }: References): string | undefined => {
    const called = owners?.byId(identity[id] ?? '')?.name;
    return typeof called === 'string' ? called : undefined;
  };
  const named: Discovery['byName'] = {
    lists: () => [list],
    identity({ identity }, references) {
      const { [id]: owner, type = '' } = identity;
      const called = nameOf(identity, references);
      return called === undefined
        ? undefined
        : uniqueNames(byName, owner, [{ [name]: called, type }], references);
    },
  };
  const kind = {
    byName,
    parentId: id,
    addressPart({ [name]: called = '', [id]: owner = called, type = '' }: Identity): string {
      // A slash in a name must not make two addresses equal.
      return `${/[/%]/.test(owner) ? encodeURIComponent(owner) : owner}/${type}`;
    },
    /** The addresses by the owner's id, and by its name if it is unique. An owner that the plan creates has no id yet. */
    naming(identity: Identity, references: References): Naming {
      const { [list]: owners } = references;
      const called = nameOf(identity, references);
      if (called === undefined || owners?.byName(called).length !== 1)
        return { address: identity, key: identity, all: [identity] };
      const byOwner = { [name]: called, type: identity.type ?? '' };
      const isNew = owners.created.has(identity[id] ?? '');
      return { address: isNew ? byOwner : identity, key: identity, all: [identity, byOwner] };
    },
  } satisfies Partial<Kind>;
  return { kind, named };
}

/** The problem of a document that names its owner by both id and name, or by neither. */
export function ownerProblems({ kind, identity, places }: Declared, { id, names: [name = ''] }: ByName) {
  const isNameless = identity[name] === undefined;
  if ((identity[id] === undefined) !== isNameless) return [];
  const message = `${withArticle(kind)} needs either "${id}" or "${name}"`;
  const hint = isNameless ? 'add one of the two' : 'remove one of the two';
  return [error('missing-field', message, [places.of()], hint)];
}
