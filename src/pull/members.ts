import {
  type Document,
  isAlias,
  isMap as isMapNode,
  isScalar,
  isSeq,
  type Pair,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isMap, type Json, same } from '../base/values.js';
import { alignList, alignMap, type Step } from './align.js';
import { editBlock } from './block.js';
import { freshFlow, freshLines, styleOf } from './fitting.js';
import { editFlow } from './flow.js';
import { pairSplice, type Target } from './leaf.js';
import { lineEnd } from './lines.js';
import { colonOf, commasIn, type Extent, insideOf, membersIn, type Splice } from './tokens.js';
import { Unfit } from './unfit.js';
import type { Style } from './yaml.js';

type Collection = YAMLMap | YAMLSeq;

/**
 * What a text takes so that a member of a map says something else, and no other character of it changes: of maps and lists the
 * members alone that differ, come or go. Throws an `Unfit` where that can't be done.
 */
export function memberSplices(text: string, document: Document, target: Target): readonly Splice[] {
  return new Members(text, document).ofPair(target);
}

class Members {
  readonly #text: string;
  readonly #document: Document;
  #style: Style | undefined;

  constructor(text: string, document: Document) {
    this.#text = text;
    this.#document = document;
  }

  ofPair(target: Target): readonly Splice[] {
    const { pair, old, next } = target;
    const { value } = pair;
    if (same(old, next)) return [];
    const isSame =
      (isMapNode(value) && isMap(old) && isMap(next)) ||
      (isSeq(value) && Array.isArray(old) && Array.isArray(next));
    // What is empty has no style of its own.
    const isBare = isSame && value.items.length === 0 && !target.isFlow && this.#isBlank(value);
    if (isSame && !isBare) return this.#ofCollection(value, old, next, pair);
    if (holdsAnchors(value)) throw new Unfit('anchor');
    const splice = pairSplice(this.#text, target);
    if (splice === undefined) throw new Unfit('shape');
    return [splice];
  }

  /** `owner` is the pair that the collection is the value of, if it is one's. */
  #ofCollection(node: Collection, old: Json, next: Json, owner: Pair | undefined): readonly Splice[] {
    if (node.anchor !== undefined) throw new Unfit('anchor');
    const members = membersIn(node);
    const steps = this.#stepsOf(node, old, next);
    if (members === undefined) throw new Unfit('shape');
    const kept = new Map(steps.map((step) => [step.old, step]));
    for (const [index, item] of node.items.entries()) {
      const step = kept.get(index);
      const isTouched =
        step === undefined ? holdsAnchors(item, 'no aliases') : step.moved && holdsAnchors(item);
      if (isTouched) throw new Unfit('anchor');
    }
    const within = (step: Step, index: number): readonly Splice[] => this.#within(node, step, index);
    const isSettled =
      steps.length === members.length && steps.every(({ old: place }, index) => place === index);
    if (isSettled) return steps.flatMap((step, index) => within(step, index));
    if (node.flow === true) {
      const inside = insideOf(node);
      if (inside === undefined) throw new Unfit('shape');
      const flow = { inside, members, commas: commasIn(node) };
      const fresh = ({ key, next: value }: Step) => freshFlow(this.#text, node, { key, value });
      return [editFlow(this.#text, flow, steps, { within, fresh })];
    }
    if (steps.length === 0 && owner === undefined) return [emptiedElement(this.#text, node, members)];
    const fresh = ({ key, next: value }: Step) =>
      freshLines(this.#text, node, members, { key, value }, this.#styled());
    return editBlock(this.#text, members, steps, { within, fresh }, () => emptied(node, owner));
  }

  #stepsOf(node: Collection, old: Json, next: Json): readonly Step[] {
    if (isSeq(node) && Array.isArray(old) && Array.isArray(next) && old.length === node.items.length) {
      return alignList(old, next);
    }
    if (!isMapNode(node) || !isMap(old) || !isMap(next)) throw new Unfit('shape');
    const keys = node.items.map(({ key }) => (isScalar(key) ? String(key.value) : undefined));
    const told = keys.filter((key) => key !== undefined && Object.hasOwn(old, key));
    if (told.length < keys.length || told.length !== Object.keys(old).length) throw new Unfit('shape');
    return alignMap(told as readonly string[], old, next);
  }

  #within(node: Collection, { was, next }: Step, index: number): readonly Splice[] {
    if (same(was, next)) return [];
    if (isMapNode(node)) {
      const pair = node.items[index];
      if (pair === undefined) throw new Unfit('shape');
      return this.ofPair({ isFlow: node.flow === true, pair, old: was, next });
    }
    const item = node.items[index];
    if (!isMapNode(item) && !isSeq(item)) throw new Unfit(isAlias(item) ? 'anchor' : 'shape');
    return this.#ofCollection(item, was, next, undefined);
  }

  #isBlank(node: Collection): boolean {
    const inside = insideOf(node);
    return inside === undefined || this.#text.slice(inside.start, inside.end).trim() === '';
  }

  #styled(): Style {
    this.#style ??= styleOf(this.#text, this.#document);
    return this.#style;
  }
}

/** Writes a collection as one without members, behind the key that it belongs to. */
function emptied(node: Collection, owner: Pair | undefined): Splice {
  const colon = colonOf(owner?.srcToken);
  if (colon === undefined) throw new Unfit('shape');
  return { start: colon, end: colon, text: isSeq(node) ? ' []' : ' {}' };
}

/** Writes an element of a list as a collection without members, in the place of those that it had. */
function emptiedElement(text: string, node: Collection, members: readonly Extent[]): Splice {
  const [first, last] = [members[0], members.at(-1)];
  if (first === undefined || last === undefined) throw new Unfit('shape');
  const end = last.end - (/[\r\n]*$/.exec(text.slice(first.start, last.end))?.[0].length ?? 0);
  const comment = /^[ \t]*#[^\r\n]*/.exec(text.slice(end, lineEnd(text, end)))?.[0] ?? '';
  // What nobody knows whose it is has no place in it.
  if (/^\s*#/m.test(text.slice(first.start, end))) throw new Unfit('shape');
  return { start: first.start, end: end + comment.length, text: isSeq(node) ? '[]' : '{}' };
}

/** Whether there are anchors in a node, or aliases where those count too. */
export function holdsAnchors(node: unknown, aliases: 'no aliases' | 'aliases' = 'aliases'): boolean {
  let found = false;
  visit(node as never, {
    Alias: () => {
      found ||= aliases === 'aliases';
    },
    Node: (_, inner) => {
      if (!isAlias(inner) && inner.anchor !== undefined) found = true;
    },
  });
  return found;
}
