/**
 * How much of emails idops takes: far more than any real one has, and little enough that checking and showing them takes
 * memory and time in proportion. docs/email.md says them to users.
 */
export const limits = {
  /** Characters of one body. */
  bodyCharacters: 1_048_576,
  /** Characters of all body files together, unless limits.body_characters says otherwise. */
  allBodiesCharacters: 32_000_000,
  /** Mustache tags in one body. */
  tags: 20_000,
  /** Sections within each other. */
  sectionDepth: 100,
  /** Steps in a placeholder's name: `user.name` has two. */
  nameSteps: 32,
  /** Characters of a placeholder's name. */
  nameCharacters: 1000,
  /** Elements within each other; as deep as browsers build a tree. */
  elementDepth: 512,
  /** Elements that a browser would make of one body; a few tags can make it repeat many. */
  elements: 50_000,
  /** Mails of one template that are made, of those that its sections allow. */
  variants: 24,
  /** Characters of one rendered body. */
  renderedCharacters: 2_000_000,
  /** Characters of all mails of one template. */
  templateCharacters: 16_000_000,
  /** How often rendering one body goes into sections: lists within lists repeat each other. */
  sectionVisits: 100_000,
  /** Characters of emails on one page, before it is too heavy to be opened. */
  pageCharacters: 30_000_000,
  /** Emails in frames on one page: a browser loads all of them when it opens the page. */
  pageFrames: 200,
  /** Things that a note names as left out of an email. */
  leftOut: 20,
  /** Pixels that a window is high where an email speaks of its height, as `100vh` does. */
  windowHeight: 200,
  /** Blocks and brackets within each other in a style sheet. */
  styleDepth: 32,
} as const;

/** Why a body is beyond a limit, as a sentence goes on. */
export const beyond = {
  characters: `it has more than ${shown(limits.bodyCharacters)} characters`,
  tags: `it has more than ${shown(limits.tags)} tags`,
  depth: `sections are nested more than ${limits.sectionDepth} deep`,
  rendered: `it has more than ${shown(limits.renderedCharacters)} characters`,
  visits: `it goes into sections more than ${shown(limits.sectionVisits)} times`,
} as const;

/** A whole number as people write it: `2,000,000`. Not by the platform's tables of languages, which take long to load. */
export function shown(limit: number): string {
  return String(limit).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
