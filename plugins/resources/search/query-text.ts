import { Invalid, type SearchQuery } from 'pounce/sdk'
import { typed } from './metadata-values.ts'

type Operator = ':' | '==' | '!=' | '<' | '<=' | '>' | '>='
type Token = { readonly at: number } & (
  | { readonly is: 'word'; readonly text: string; readonly isQuoted: boolean }
  | { readonly is: 'operator'; readonly operator: Operator }
)

const longestQuery = 10_000
/** A single = is read as ==. The longer ones come first. */
const signs = ['==', '!=', '<=', '>=', ':', '<', '>', '='] as const
const fieldIs = { ':': 'contains', '==': 'equals', '!=': 'differs', '<': 'less', '<=': 'atMost', '>': 'more', '>=': 'atLeast' } as const

const quoted = (text: string, at: number): { token: Token; next: number } => {
  const end = text.indexOf('"', at + 1)
  if (end < 0) throw new Invalid(`The quotation mark at position ${at + 1} has no partner`, { details: { position: at + 1 } })
  return { token: { at, is: 'word', text: text.slice(at + 1, end), isQuoted: true }, next: end + 1 }
}

/** Runs without blanks, quotes or operators; or quoted text. Two underscores stand for a blank (Clowder 1.x). */
const tokens = (text: string): readonly Token[] => {
  const found: Token[] = []
  let at = 0
  while (at < text.length) {
    const sign = signs.find(each => text.startsWith(each, at))
    if (/\s/.test(text[at] as string)) at += 1
    else if (text[at] === '"') {
      const { token, next } = quoted(text, at)
      found.push(token)
      at = next
    } else if (sign) {
      found.push({ at, is: 'operator', operator: sign === '=' ? '==' : sign })
      at += sign.length
    } else {
      const [word] = /^(?:[^\s":=<>!]|!(?!=))+/.exec(text.slice(at)) ?? ['']
      found.push({ at, is: 'word', text: word.replaceAll('__', ' '), isQuoted: false })
      at += word.length
    }
  }
  return found
}

const day = /^\d{4}-\d{2}-\d{2}$/

/** `created:2021-04-19` is that day; `<` and `>=` begin at its first, `>` and `<=` end at its last millisecond. */
const onDay = (field: string, operator: Operator, text: string): SearchQuery => {
  const start = new Date(`${text}T00:00:00.000Z`)
  const end = new Date(`${text}T23:59:59.999Z`)
  if (Number.isNaN(start.getTime())) throw new Invalid(`${text} is no date: write it as 2021-04-19`)
  const compare = (is: 'less' | 'atMost' | 'more' | 'atLeast', value: Date): SearchQuery => ({ op: 'field', field, is, values: [value] })
  if (operator === '<') return compare('less', start)
  if (operator === '>=') return compare('atLeast', start)
  if (operator === '>') return compare('more', end)
  if (operator === '<=') return compare('atMost', end)
  const within: SearchQuery = { op: 'and', all: [compare('atLeast', start), compare('atMost', end)] }
  return operator === '!=' ? { op: 'not', not: within } : within
}

/** One field compared with a value; `a|b` after `:` means either. */
export const compared = (field: string, operator: Operator, text: string): SearchQuery => {
  const name = field.replace(/^metadata\./, '')
  if (name === 'exists') return { op: 'exists', field: text }
  if (name === 'missing') return { op: 'missing', field: text }
  if (day.test(text)) return onDay(name, operator, text)
  const values = operator === ':' ? text.split('|').filter(value => value !== '') : [text]
  const isComparing = operator !== ':' && operator !== '==' && operator !== '!='
  return { op: 'field', field: name, is: fieldIs[operator], values: values.map(value => (isComparing ? typed(value) : value)) }
}

const free = (text: string, isQuoted: boolean): SearchQuery => (isQuoted ? { op: 'phrase', text } : { op: 'word', text })

/** Reads what people type: words, "phrases", and fields compared by `: == != < <= > >=`; all of it must fit. */
export const readQuery = (text: string): SearchQuery => {
  if (text.length > longestQuery) throw new Invalid(`The query has ${text.length} characters; at most ${longestQuery} are read`)
  const all: SearchQuery[] = []
  const read = tokens(text)
  for (let at = 0; at < read.length; at += 1) {
    const token = read[at] as Token
    if (token.is === 'operator') {
      const message = `The operator ${token.operator} at position ${token.at + 1} has no field before it: write field${token.operator}value`
      throw new Invalid(message, { details: { position: token.at + 1 } })
    }
    const next = read[at + 1]
    if (next?.is !== 'operator') {
      if (token.text.trim() !== '') all.push(free(token.text, token.isQuoted))
      continue
    }
    const value = read[at + 2]
    if (value?.is !== 'word') {
      const message = `The operator ${next.operator} at position ${next.at + 1} has no value after it: write ${token.text}${next.operator}value`
      throw new Invalid(message, { details: { position: next.at + 1 } })
    }
    all.push(compared(token.text, next.operator, value.text))
    at += 2
  }
  if (all.length === 0) return { op: 'all' }
  return all.length === 1 ? (all[0] as SearchQuery) : { op: 'and', all }
}
