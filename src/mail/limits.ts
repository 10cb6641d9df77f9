/**
 * The limits of emails: far above any real email, and low enough to limit memory and time. docs/reference/emails.md lists them.
 */
export const limits = {
  /** Characters of one body. */
  bodyCharacters: 1_048_576,
  /** Characters of all body files together, unless limits.body_characters says otherwise. */
  allBodiesCharacters: 32_000_000,
  /** Mustache tags in one body. */
  tags: 20_000,
  /** Nested sections. */
  sectionDepth: 100,
  /** Steps in a placeholder's name: `user.name` has two. */
  nameSteps: 32,
  /** Characters of a placeholder's name. */
  nameCharacters: 1000,
  /** Nested elements; browsers have the same limit. */
  elementDepth: 512,
  /** Elements of one body; a few tags can make a browser create many elements. */
  elements: 50_000,
  /** Rendered mails of one template. */
  variants: 24,
  /** Characters of one rendered body. */
  renderedCharacters: 2_000_000,
  /** Characters of all mails of one template. */
  templateCharacters: 16_000_000,
  /** Sections rendered for one body: nested lists multiply. */
  sectionVisits: 100_000,
  /** Characters of emails on one page. */
  pageCharacters: 30_000_000,
  /** Frames on one page: browsers load all of them at once. */
  pageFrames: 200,
  /** Notes about removed parts of an email. */
  leftOut: 20,
  /** The height of the window in pixels, for units such as `vh`. */
  windowHeight: 200,
  /** Nested blocks and brackets of a style sheet. */
  styleDepth: 32,
} as const;

/** Why a body exceeds a limit, for the end of a sentence. */
export const exceeded = {
  characters: `it has more than ${formatNumber(limits.bodyCharacters)} characters`,
  tags: `it has more than ${formatNumber(limits.tags)} tags`,
  depth: `sections are nested more than ${limits.sectionDepth} deep`,
  rendered: `it has more than ${formatNumber(limits.renderedCharacters)} characters`,
  visits: `it enters sections more than ${formatNumber(limits.sectionVisits)} times`,
} as const;

/** A whole number with separators: `2,000,000`. `Intl` takes long to load. */
export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
