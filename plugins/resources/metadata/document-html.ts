import type { Json } from 'pounce/sdk'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replace(/[&<>"']/g, each => entities[each] ?? each)

const mostFields = 500
const longestValue = 2000

const textOf = (value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return escaped(text.length > longestValue ? `${text.slice(0, longestValue)}…`.toWellFormed() : text)
}

const fieldsOf = (content: Json): readonly (readonly [string, Json])[] =>
  typeof content === 'object' && content !== null && !Array.isArray(content)
    ? Object.entries(content as Readonly<Record<string, Json>>).slice(0, mostFields)
    : [['', content]]

/** A document as v1's pages put it among the cards and into the table that they show. All text is escaped. */
export const htmlOf = (id: string, agent: string, content: Json): { readonly cards: string; readonly table: string } => {
  const who = escaped(agent)
  const fields = fieldsOf(content).map(([name, value]) => [escaped(name), textOf(value)] as const)
  const items = fields.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')
  return {
    cards: `<div class="panel panel-default" id="metadata_${id}"><div class="panel-heading">Added by ${who}</div><dl class="panel-body">${items}</dl></div>`,
    table: fields.map(([name, value]) => `<tr class="metadata_${id}"><td>${name}</td><td>${value}</td><td>${who}</td></tr>`).join(''),
  }
}
