import { splitWords } from '../base/words.js';
import type { Partials, TemplateValue } from './template.js';

type Data = { readonly [name: string]: TemplateValue };

const paths = splitWords(`
  choose_session edit_user update_user destroy_user delete_user_session update_user_reset_password
  new_user_registration new_user_reset_password new_user_session new_user_totp_registration
  new_user_webauthn_registration create_user_confirmation create_user_consent create_user_registration
  create_user_reset_password create_user_session create_user_totp_registration
  create_user_session_totp_authentication create_user_session_webauthn_authentication
  create_user_webauthn_registration
`);

/** The data of every page of an identity provider. */
const common: Data = {
  _csrf_token: 'token',
  boruta_logo_path: '/images/logo.png',
  'valid?': true,
  errors: [{ message: 'Invalid email or password.' }],
  messages: [{ type: 'info', content: 'You have signed out.' }],
  'registrable?': true,
  'totpable?': true,
  'user_editable?': true,
  federated_servers: {},
  ...Object.fromEntries(paths.map((name) => [`${name}_path`, `/${name.replaceAll('_', '/')}`])),
};

const currentUser: Data = {
  current_user: {
    username: 'jane.doe@example.com',
    totp_registered_at: '2026-01-31T12:00:00Z',
    webauthn_registered_at: '2026-01-31T12:00:00Z',
    metadata: {},
  },
};

const webauthn: Data = {
  ...currentUser,
  webauthn_options: {
    challenge: 'challenge',
    rp: { id: 'example.com', name: 'Example' },
    user: { id: '1', name: 'jane.doe@example.com', displayName: 'Jane Doe' },
    credential_id: 'credential',
  },
};

const own: { readonly [type: string]: Data } = {
  layout: webauthn,
  new_session: {},
  new_registration: {},
  new_reset_password: {},
  new_confirmation_instructions: {},
  edit_reset_password: {},
  choose_session: currentUser,
  edit_user: currentUser,
  new_totp_authentication: currentUser,
  new_totp_registration: {
    ...currentUser,
    totp_secret: 'JBSWY3DPEHPK3PXP',
    base64_totp_registration_qr_code: '',
  },
  new_webauthn_registration: webauthn,
  new_webauthn_authentication: webauthn,
  new_consent: {
    client: { name: 'Customer portal' },
    scopes: [{ name: 'billing:read', label: 'Read bills' }],
  },
  credential_offer: {
    base64_credential_offer_qr_code: '',
    credential_offer_deeplink: 'openid-credential-offer://example.com',
    code: '493172',
  },
  cross_device_presentation: {
    base64_presentation_qr_code: '',
    presentation_deeplink: 'openid4vp://example.com',
    'presentation_qr_code_error?': false,
  },
};

/** The type of the layout, and the partial in it that shows a page. */
export const layout = { type: 'layout', partial: 'inner_content' } as const;

/** The data that Boruta fills into a page of a type, with example values; undefined if there is no such page. */
export function borutaPage(type: string): { readonly data: Data; readonly partials?: Partials } | undefined {
  if (/^[45]\d\d$/.test(type))
    return { data: { reason: { message: 'Not found.' }, boruta_logo_path: '/images/logo.png' } };
  if (!Object.hasOwn(own, type)) return undefined;
  const data = { ...common, ...own[type] };
  return type === layout.type ? { data, partials: { [layout.partial]: '[the page]' } } : { data };
}
