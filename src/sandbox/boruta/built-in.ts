/** The built-in bodies of a template. */
export interface BuiltIn {
  txt_content: string;
  html_content: string;
}

function page(title: string, text: string, url: string): BuiltIn {
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

/** Every template type of the server, with its built-in bodies. */
export const builtIn: ReadonlyMap<string, BuiltIn> = new Map([
  [
    'confirmation_instructions',
    page('Confirm your account', 'Please confirm your account with this link.', '{{ url }}'),
  ],
  [
    'reset_password_instructions',
    page('Reset your password', 'You can change your password with this link.', '{{ url }}'),
  ],
  ['tx_code', page('Your code', 'This is your transaction code.', '{{ tx_code }}')],
]);
