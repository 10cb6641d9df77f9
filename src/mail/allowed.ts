/** Allowlists for emails in reports. Everything else is removed, so that features that browsers add later are removed too. */

import { splitWords } from '../base/words.js';

const words = (text: string): ReadonlySet<string> => new Set(splitWords(text));

/** Allowed elements. Other elements are removed, but their content stays unless they are in `removedWithContent`. */
export const allowedElements = words(`
  a abbr acronym address article aside b bdi bdo big blockquote br button caption center cite code col colgroup dd del
  details dfn dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd
  legend li main mark menu nav nobr ol p pre q rp rt ruby s samp section small span strike strong sub summary sup
  table tbody td tfoot th thead time tr tt u ul var wbr
`);

/** Elements that are removed with their content: they run, embed or load something, ask for input, or are invisible. */
export const removedWithContent = words(`
  applet audio base basefont bgsound canvas datalist embed fencedframe frame frameset iframe input keygen link
  map meta model noembed noframes object optgroup option output param plaintext portal script select source
  template textarea title track video xmp
`);

/** The visible ones of `removedWithContent`: a note replaces them. */
export const replacedByNote = words(`
  applet audio canvas embed fencedframe frame frameset iframe input map model object portal select textarea video
`);

/** Form elements that are allowed on pages, since the frame neither runs nor sends anything. */
export const formElements = words('form input label optgroup option select textarea');

/** Attributes that are allowed on every element. */
export const allowedAttributes = words(`
  abbr align alt bgcolor border cellpadding cellspacing char charoff class clear color cols colspan compact datetime
  dir face frame headers height hidden hspace id lang noshade nowrap open reversed role rowspan rules scope size
  span start summary title translate type valign value vspace width
  alink link text vlink aria-hidden aria-label aria-level aria-describedby aria-labelledby aria-roledescription
`);

/** Allowed CSS properties, with or without a vendor prefix. */
export const cssProperties = words(`
  align-content align-items align-self appearance aspect-ratio
  background background-attachment background-blend-mode background-clip background-color background-image
  background-origin background-position background-position-x background-position-y background-repeat background-size
  border border-block border-block-end border-block-start border-bottom border-bottom-color
  border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width border-collapse
  border-color border-inline border-inline-end border-inline-start border-left border-left-color border-left-style
  border-left-width border-radius border-right border-right-color border-right-style border-right-width
  border-spacing border-style border-top border-top-color border-top-left-radius border-top-right-radius
  border-top-style border-top-width border-width bottom box-decoration-break box-shadow box-sizing break-after
  break-before break-inside caption-side clear clip color color-scheme column-count column-gap column-rule
  column-span column-width columns content counter-increment counter-reset direction display empty-cells flex
  flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap float font font-family font-feature-settings
  font-kerning font-size font-size-adjust font-smoothing font-stretch font-style font-variant font-variant-caps
  font-variant-ligatures font-variant-numeric font-weight gap grid-area grid-auto-columns grid-auto-flow
  grid-auto-rows grid-column grid-column-end grid-column-start grid-row grid-row-end grid-row-start
  grid-template-areas grid-template-columns grid-template-rows height hyphens inline-size inset
  interpolation-mode isolation justify-content justify-items justify-self left letter-spacing line-break
  line-height list-style list-style-image list-style-position list-style-type margin margin-block
  margin-block-end margin-block-start margin-bottom margin-inline margin-inline-end margin-inline-start margin-left
  margin-right margin-top max-height max-inline-size max-width min-height min-inline-size min-width mix-blend-mode
  object-fit object-position opacity order orphans osx-font-smoothing outline outline-color outline-offset
  outline-style outline-width overflow overflow-wrap overflow-x overflow-y padding padding-block padding-block-end
  padding-block-start padding-bottom padding-inline padding-inline-end padding-inline-start padding-left
  padding-right padding-top place-content place-items place-self position quotes right row-gap tab-size
  table-layout tap-highlight-color text-align text-align-last text-decoration text-decoration-color
  text-decoration-line text-decoration-style text-decoration-thickness text-fill-color text-indent
  text-overflow text-shadow text-size-adjust text-transform text-underline-offset text-wrap top transform
  transform-origin unicode-bidi user-select vertical-align visibility white-space widows width word-break
  word-spacing word-wrap writing-mode z-index zoom
`);

/** The allowed properties that may contain a picture. */
export const imageProperties = words('background background-image list-style list-style-image');

/** Allowed functions in values. */
export const valueFunctions = words(`
  calc clamp color-mix counter counters fit-content hsl hsla hwb lab lch linear-gradient matrix max min minmax oklab
  oklch radial-gradient repeat repeating-linear-gradient repeating-radial-gradient rgb rgba rotate scale scalex
  scaley skew skewx skewy translate translatex translatey
`);

/** Matches functions that would load a picture. */
export const imageFunctions = /image|cross-fade|src|element|paint/;

/** Allowed functions in selectors and media queries. */
export const selectorFunctions = words(`
  and dir is lang not nth-child nth-last-child nth-last-of-type nth-of-type or where
`);

/** Matches pictures that are inside the email, in formats that can't run anything. */
export const embeddedPicture =
  /^data:image\/(?:avif|bmp|gif|jpe?g|png|webp|x-icon)(?:;[a-z0-9=-]+)*,[a-z0-9+/=%\s._~-]*$/i;
