import { Invalid } from 'pounce/sdk'
import { defaultJsonLimits, parseJson } from 'pounce/sdk/kit'
import type { SearchQuery } from 'pounce/sdk/search'
import { checkQuery, compareField, comparingOf, fieldContains, operatorSigns } from 'pounce/sdk/search/language'

const maxItems = 200

/**
 * Parses the JSON form of a query: a list of `{field_key, operator, field_value}`, all or any of which must match. Throws `Invalid` naming
 * the wrong item.
 */
export function readJsonQuery(text: string, grouping: 'AND' | 'OR'): SearchQuery {
  const items = parseJson(text, defaultJsonLimits, 'The query')
  if (!Array.isArray(items))
    throw new Invalid('The query must be a JSON array such as [{"field_key":"metadata.depth","operator":">","field_value":"3"}]')
  if (items.length > maxItems) throw new Invalid(`The query has ${items.length} items; the maximum is ${maxItems}`)
  if (items.length === 0) return { op: 'all' }
  const parts = (items as readonly unknown[]).map((item, at) => toQuery(item, at + 1))
  return checkQuery(grouping === 'OR' ? { op: 'or', any: parts } : { op: 'and', all: parts })
}

function toQuery(item: unknown, number: number): SearchQuery {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    throw new Invalid(`Item ${number} of the query must be a JSON object`)
  const members = new Map<string, unknown>(Object.entries(item))
  const textOf = (name: string): string => {
    const value = members.get(name) ?? ''
    if (typeof value !== 'string' || value.length > 1000)
      throw new Invalid(`${name} of item ${number} must be text of at most 1,000 characters`)
    return value.trim()
  }
  const field = textOf('field_key') || [textOf('extractor_key'), textOf('field_leaf_key')].filter(part => part !== '').join('.')
  if (field === '') throw new Invalid(`Item ${number} of the query has no field_key`)
  const operator = textOf('operator')
  if (operator === 'exists' || operator === 'missing') return { op: operator, field }
  const is = comparingOf(operator)
  if (!is)
    throw new Invalid(
      `Item ${number} of the query has the unknown operator ${operator || '""'}; available: ${operatorSigns.join(' ')} exists missing`,
    )
  const value = valueOfItem(members.get('field_value'), number)
  return is === 'contains' ? fieldContains(field, value) : compareField(field, is, [value])
}

function valueOfItem(value: unknown, number: number): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (!isPlain || String(value).length > 1000)
    throw new Invalid(`field_value of item ${number} must be text of at most 1,000 characters or a number`)
  return String(value)
}
