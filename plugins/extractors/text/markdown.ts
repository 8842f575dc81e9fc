import type { Attributes } from 'sanitize-html'

/** Markdown as a page of its own, without anything that acts or loads. */
export interface MarkdownPage {
  readonly html: string
  /** The text of the first heading. */
  readonly title?: string
}

/** Formats Markdown. Scripts, styles, images, forms and relative links do not come through. Throws on nesting beyond measure. */
export async function markdownPage(markdown: string): Promise<MarkdownPage> {
  const [{ marked }, { default: sanitize }] = await Promise.all([import('marked'), import('sanitize-html')])
  const tokens = marked.lexer(markdown, { gfm: true })
  const body = sanitize(marked.parser(tokens), {
    allowedAttributes: { a: ['href', 'rel', 'title'], td: ['align'], th: ['align'], ol: ['start'] },
    transformTags: { a: (tagName, { href, title }) => ({ tagName, attribs: outward(href, title) }) },
    nestingLimit: 100,
  })
  const heading = tokens.find(token => token.type === 'heading')
  const title = heading && 'text' in heading ? String(heading.text).trim().slice(0, 500) : ''
  return {
    html: `<!doctype html>\n<html><head><meta charset="utf-8"><title>Preview</title></head><body>\n${body}</body></html>\n`,
    ...(title && { title }),
  }
}

/** A relative link would lead to some page of this server, which the author did not mean. */
function outward(href: string | undefined, title: string | undefined): Attributes {
  if (!href || !/^(https?|mailto):/i.test(href)) return {}
  return { href, rel: 'nofollow noopener noreferrer', ...(title && { title }) }
}
