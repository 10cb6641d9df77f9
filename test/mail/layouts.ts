/** Bodies as layout tools generate them for transactional emails: nested tables, VML, inlined styles. */

const head = (
  title: string,
) => `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" lang="en">
<head>
  <meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1.0" />
  <title>${title}</title>
  <!--[if mso]>
  <noscript><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml></noscript>
  <style>table { border-collapse: collapse; } .outlook { width: 600px; }</style>
  <![endif]-->
  <style type="text/css">
    #outlook a { padding: 0; }
    body { margin: 0; padding: 0; -webkit-text-size-adjust: 100%; }
    @media only screen and (max-width: 480px) { .column { width: 100% !important; } }
  </style>
</head>`;

const row = (index: number) => `
          <table border="0" cellpadding="0" cellspacing="0" role="presentation" width="100%" style="border-collapse:collapse;">
            <tr>
              <td align="left" style="font-size:0px;padding:10px 25px;word-break:break-word;">
                <!--[if mso | IE]><table role="presentation"><tr><td class="outlook" width="300"><![endif]-->
                <div class="column" style="display:inline-block;vertical-align:top;width:100%;max-width:300px;">
                  <table border="0" cellpadding="0" cellspacing="0" role="presentation" width="100%"><tbody><tr>
                    <td style="font-family:Ubuntu, Helvetica, Arial, sans-serif;font-size:13px;line-height:22px;color:#55575d;">
                      Paragraph ${index} for {{ user.username }}, with <a href="{{ action_url }}" style="color:#586ee0;">a link</a> &middot; more
                    </td></tr></tbody></table>
                </div>
                <!--[if mso | IE]></td></tr></table><![endif]-->
              </td>
            </tr>
          </table>`;

/** A layout of about the given size. It uses `{{ user.username }}`, `{{ action_url }}` and one section. */
export function layout(kilobytes: number, title = 'Reset your password'): string {
  const rows: string[] = [];
  let size = 0;
  for (let index = 0; size < kilobytes * 1024; index += 1) {
    const text = row(index);
    rows.push(text);
    size += text.length;
  }
  return `${head(title)}
<body style="margin:0;background-color:#f4f4f4;">
  <div style="display:none;max-height:0;overflow:hidden;">{{ preheader }}</div>
  <table align="center" width="100%" role="presentation"><tr><td><table width="600"><tr><td>${rows.join('')}
    {{#organization}}<p>Sent on behalf of {{ name }}.</p>{{/organization}}{{^organization}}<p>Sent by us.</p>{{/organization}}
    <!--[if mso]><v:roundrect href="{{ action_url }}" arcsize="10%"><center>Go on</center></v:roundrect><![endif]-->
    <img src="https://static.example/logo.png" alt="ACME" width="120" height="32" />
  </td></tr></table></td></tr></table>
</body>
</html>
`;
}

/** The text body of a layout. */
export const layoutText = `{{ preheader }}

Hello {{ user.username }}, go on at {{ action_url }}
{{#organization}}Sent on behalf of {{ name }}.{{/organization}}
`;
