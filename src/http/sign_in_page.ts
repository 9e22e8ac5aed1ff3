/** What the page says, and the one thing that it may ask for. All of it is shown as text. */
export interface SignInPageContent {
  title: string;
  text: string;
  form?: { action: string; label: string; values: Readonly<Record<string, string>> };
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
  main { max-width: 26rem; margin: 1rem; padding: 1.5rem 2rem; border: 1px solid #8884; border-radius: 0.75rem; }
  h1 { margin: 0 0 0.5rem; font-size: 1.25rem; overflow-wrap: anywhere; }
  p { margin: 0; overflow-wrap: anywhere; }
  button { margin-top: 1.25rem; padding: 0.6rem 1.4rem; border: 0; border-radius: 0.5rem; cursor: pointer; }
  button { font: inherit; font-weight: 600; color: #fff; background: #4752c4; }
  button:hover, button:focus-visible { background: #3c45a5; }
`;

/** A page on which people say that an account is to be connected, or read why it was not. */
export function signInPage({ title, text, form }: SignInPageContent): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · turnstone</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${form === undefined ? "" : formOf(form)}</main></body>
</html>
`;
}

function formOf({ action, label, values }: NonNullable<SignInPageContent["form"]>): string {
  const inputs = Object.entries(values).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  return `<form method="post" action="${escaped(action)}">${inputs.join("")}<button>${escaped(label)}</button></form>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
