/** An HTML email; `style` is added to the common styles. */
function html(title: string, style: string, lines: string): string {
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${title}</title>
    <style>
      body { margin: 0; background: #f4f5f7; font-family: Helvetica, Arial, sans-serif; color: #1f2937; }
      .card { max-width: 560px; margin: 32px auto; padding: 32px; background: #ffffff; border-radius: 8px; }
      ${style}
      .small { font-size: 12px; color: #6b7280; }
    </style>
  </head>
  <body>
    <div class="card">
${lines}
      <p class="small">ACME Accounts &middot; 1 Example Street &middot; London</p>
    </div>
  </body>
</html>
`;
}

const resetPasswordText = `Hello {{ user.username }},

somebody, hopefully you, asked for a new password for your ACME account.

Choose a new one here. The link works for one hour:
{{ url }}

If it wasn't you, ignore this message: your password stays as it is.

ACME Accounts
`;

const resetPasswordHtml = html(
  'Choose a new password',
  '.button { display: inline-block; padding: 12px 20px; background: #1d4ed8; color: #ffffff; border-radius: 6px; text-decoration: none; }',
  `      <img src="https://static.acme.example/logo.png" alt="ACME" width="120" height="32">
      <h1>Choose a new password</h1>
      <p>Hello {{ user.username }},</p>
      <p>somebody, hopefully you, asked for a new password for your ACME account.</p>
      <p>
        <a class="button" href="{{ url }}">Choose a new password</a>
      </p>
      <p>The link works for one hour. If the button doesn't, copy this address:</p>
      <p class="small">{{ url }}</p>
      <hr>
      <p class="small">
        If it wasn't you, ignore this message: your password stays as it is.
      </p>`,
);

const txCodeText = `Hello {{ user.username }},

your transaction code is {{ tx_code }}

Enter it in your wallet to receive your credential. It works once, for ten minutes.
Nobody from ACME will ever ask you for it.

ACME Accounts
`;

const txCodeHtml = html(
  'Your transaction code',
  '.code { font-size: 32px; letter-spacing: 8px; text-align: center; }',
  `      <img src="https://static.acme.example/logo.png" alt="ACME" width="120" height="32">
      <h1>Your transaction code</h1>
      <p>Hello {{ user.username }},</p>
      <p>enter this code in your wallet to receive your credential:</p>
      <p class="code">{{ tx_code }}</p>
      <p>It works once, for ten minutes.</p>
      <hr>
      <p class="small">Nobody from ACME will ever ask you for it.</p>`,
);

/** The customised email templates of the demo data. */
export const demoTemplates = [
  { type: 'reset_password_instructions', txt_content: resetPasswordText, html_content: resetPasswordHtml },
  { type: 'tx_code', txt_content: txCodeText, html_content: txCodeHtml },
];
