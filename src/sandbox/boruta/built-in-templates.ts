/** The built-in bodies of an email template. */
export interface EmailBodies {
  txt_content: string;
  html_content: string;
}

function email(title: string, text: string, url: string): EmailBodies {
  return {
    txt_content: `${title}\n\nHello {{ user.username }},\n\n${text}\n\n${url}\n`,
    html_content: `<!DOCTYPE html>
<html>
  <body>
    <h1>${title}</h1>
    <p>Hello {{ user.username }},</p>
    <p>${text}</p>
    <p>${url}</p>
  </body>
</html>
`,
  };
}

/** The types of email templates, with their built-in bodies. */
export const emailTypes: ReadonlyMap<string, EmailBodies> = new Map([
  [
    'confirmation_instructions',
    email('Confirm your account', 'Please confirm your account with this link.', '{{ url }}'),
  ],
  [
    'reset_password_instructions',
    email('Reset your password', 'You can change your password with this link.', '{{ url }}'),
  ],
  ['tx_code', email('Your code', 'This is your transaction code.', '{{ tx_code }}')],
]);

const form = (action: string, fields: string): string =>
  `<form action="{{ ${action} }}" method="POST">\n` +
  `  <input type="hidden" name="_csrf_token" value="{{ _csrf_token }}" />\n${fields}</form>\n`;
const field = (name: string, type = 'text'): string => `  <input type="${type}" name="user[${name}]" />\n`;
const errors = '{{^valid?}}\n<ul>\n{{#errors}}\n  <li>{{ message }}</li>\n{{/errors}}\n</ul>\n{{/valid?}}\n';
const emailField = field('email', 'email');
const passwordField = field('password', 'password');

const pages: Readonly<Record<string, readonly [title: string, body: string]>> = {
  new_session: ['Log in', errors + form('create_user_session_path', emailField + passwordField)],
  choose_session: ['Continue?', '<a href="{{ choose_session_path }}">{{ current_user.username }}</a>\n'],
  new_registration: ['Register', errors + form('create_user_registration_path', emailField + passwordField)],
  edit_user: [
    'Edit your profile',
    errors + form('update_user_path', emailField + field('current_password', 'password')),
  ],
  new_reset_password: ['Forgot your password?', form('create_user_reset_password_path', emailField)],
  edit_reset_password: [
    'Reset your password',
    errors + form('update_user_reset_password_path', passwordField),
  ],
  new_confirmation_instructions: ['Confirm your account', form('create_user_confirmation_path', emailField)],
  new_totp_registration: [
    'Register an authenticator',
    `<p>{{ totp_secret }}</p>\n${form('create_user_totp_registration_path', field('totp_code'))}`,
  ],
  new_totp_authentication: [
    'Enter your code',
    form('create_user_session_totp_authentication_path', field('totp_code')),
  ],
  new_webauthn_registration: [
    'Register a key',
    `<p data-challenge="{{ webauthn_options.challenge }}"></p>\n${form('create_user_webauthn_registration_path', '')}`,
  ],
  new_webauthn_authentication: [
    'Use your key',
    `<p data-challenge="{{ webauthn_options.challenge }}"></p>\n${form('create_user_session_webauthn_authentication_path', '')}`,
  ],
  new_consent: [
    'Consent',
    `<p>{{ client.name }}</p>\n<ul>\n{{#scopes}}\n  <li>{{ label }}</li>\n{{/scopes}}\n</ul>\n${form('create_user_consent_path', '')}`,
  ],
  credential_offer: ['Credential offer', '<a href="{{ credential_offer_deeplink }}">Open your wallet</a>\n'],
  cross_device_presentation: ['Presentation', '<a href="{{ presentation_deeplink }}">Open your wallet</a>\n'],
};

/** The types of pages of an identity provider, with their built-in content. */
export const pageTypes: ReadonlyMap<string, { content: string }> = new Map([
  [
    'layout',
    {
      content:
        '<!DOCTYPE html>\n<html>\n  <body>\n    <img src="{{ boruta_logo_path }}" />\n    {{> inner_content }}\n  </body>\n</html>\n',
    },
  ],
  ...Object.entries(pages).map(
    ([type, [title, body]]) => [type, { content: `<h1>${title}</h1>\n\n${body}` }] as const,
  ),
]);

/** The types of error pages, with their built-in content. */
export const errorTypes: ReadonlyMap<string, { content: string }> = new Map(
  ['400', '401', '403', '404', '500'].map((type) => [
    type,
    {
      content: `<!DOCTYPE html>\n<html>\n  <body>\n    <h1>${type}</h1>\n    <p>{{ reason.message }}</p>\n  </body>\n</html>\n`,
    },
  ]),
);
