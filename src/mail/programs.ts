/** Mail programs as Can I email calls them, and in words. */
const families = {
  'apple-mail': 'Apple Mail',
  gmail: 'Gmail',
  outlook: 'Outlook',
  yahoo: 'Yahoo! Mail',
  aol: 'AOL',
  'samsung-email': 'Samsung Email',
  thunderbird: 'Thunderbird',
  fastmail: 'Fastmail',
  gmx: 'GMX',
  hey: 'HEY',
  'ionos-1and1': '1&1',
  laposte: 'LaPoste.net',
  'mail-ru': 'Mail.ru',
  orange: 'Orange',
  protonmail: 'Proton Mail',
  sfr: 'SFR',
  'web-de': 'WEB.DE',
} as const;

const platforms: { readonly [platform: string]: string } = {
  android: 'Android',
  'desktop-webmail': 'web',
  ios: 'iOS',
  macos: 'macOS',
  'mobile-webmail': 'mobile web',
  'outlook-com': 'Outlook.com',
  windows: 'Windows',
  'windows-mail': 'Windows Mail',
};

/** Each program on each platform that was tested. */
export const tested = [
  ...['apple-mail.ios', 'apple-mail.macos'],
  ...['gmail.desktop-webmail', 'gmail.ios', 'gmail.android', 'gmail.mobile-webmail'],
  ...['outlook.outlook-com', 'outlook.macos', 'outlook.ios', 'outlook.android', 'outlook.windows'],
  ...['outlook.windows-mail', 'yahoo.desktop-webmail', 'yahoo.ios', 'yahoo.android'],
  ...['aol.desktop-webmail', 'aol.ios', 'aol.android', 'samsung-email.android', 'thunderbird.macos'],
  ...['fastmail.desktop-webmail', 'gmx.desktop-webmail', 'gmx.ios', 'gmx.android', 'hey.desktop-webmail'],
  ...['ionos-1and1.desktop-webmail', 'ionos-1and1.android', 'laposte.desktop-webmail'],
  ...['mail-ru.desktop-webmail', 'orange.desktop-webmail', 'orange.ios', 'orange.android'],
  ...['protonmail.desktop-webmail', 'protonmail.ios', 'protonmail.android', 'sfr.desktop-webmail'],
  ...['sfr.ios', 'sfr.android', 'web-de.desktop-webmail', 'web-de.ios', 'web-de.android'],
] as const;

/** Hardly anybody uses these any more: only who names them means them. */
const former: readonly string[] = ['gmail.mobile-webmail', 'outlook.windows-mail'];

/** A program on every platform, or on one. */
export const programNames: readonly string[] = [...Object.keys(families), ...tested];

/**
 * What nine of ten people read mail with. Not Outlook for Windows as it was before 2024: it shows mail as Word would, and
 * hardly any email is without something that it doesn't understand.
 */
export const usualPrograms: readonly string[] = [
  'apple-mail',
  'gmail',
  'outlook.outlook-com',
  'outlook.macos',
  'outlook.ios',
  'outlook.android',
];

/** The programs on single platforms that some names mean. */
export function platformsOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) =>
      name.includes('.')
        ? [name]
        : tested.filter((one) => one.startsWith(`${name}.`) && !former.includes(one)),
    ),
  );
}

/** Programs and the versions that were tested, for a person: `Gmail (web, iOS, tested 2024-05) and Outlook (Windows 2007-2019)`. */
export function programsInWords(versions: ReadonlyMap<string, string>): string {
  const words = Object.entries(families).flatMap(([family, name]) => {
    const own = tested.filter((one) => one.startsWith(`${family}.`) && versions.has(one));
    if (own.length === 0) return [];
    const dates = own.map((one) => versions.get(one) ?? '').filter(isDate);
    const where = own.map((one) => {
      const version = versions.get(one) ?? '';
      const platform = platforms[one.slice(family.length + 1)] ?? '';
      return isDate(version) ? platform : `${platform} ${version}`;
    });
    const newest = dates.toSorted().at(-1);
    return [`${name} (${[...where, ...(newest === undefined ? [] : [`tested ${newest}`])].join(', ')})`];
  });
  const last = words.pop() ?? '';
  return words.length === 0 ? last : `${words.join(', ')} and ${last}`;
}

function isDate(version: string): boolean {
  return /^\d{4}-\d\d$/.test(version);
}
