import type { SearchScope } from 'pounce/sdk/search'
import { allOf, anyOf, type Clause, not, term, terms } from './clause.ts'

const isPublic = term('isPublic', true)

/** Files outside datasets, except those of `author`. Files in a dataset always have `spaces`, since these include its author. */
const isHidden = ({ author }: { readonly author?: string }): Clause =>
  allOf([term('kind', 'file'), not({ exists: { field: 'spaces' } }), ...(author === undefined ? [] : [not(term('author', author))])])

/** What the caller may view; undefined when that is nothing. */
export function permittedBy(scope: SearchScope): Clause | undefined {
  const listed = term('isListed', true)
  if (scope.all) return scope.unplaced === undefined ? listed : allOf([listed, not(isHidden(scope.unplaced))])
  const { author, closedKinds = [], inPart = [], within } = scope
  const permits = [
    ...inSpaces(scope.spaces),
    ...(author === undefined ? [] : [term('author', author)]),
    ...(scope.includePublic ? [closedKinds.length === 0 ? isPublic : allOf([isPublic, not(terms('kind', closedKinds))])] : []),
    ...inPart.map(({ kinds, spaces }) => allOf([terms('kind', kinds), anyOf(inSpaces(spaces))])),
  ]
  if (permits.length === 0 || within?.length === 0) return undefined
  return allOf([listed, anyOf(permits), ...(within ? [anyOf(inSpaces(within))] : [])])
}

/** Maximum number of values in one list (`index.max_terms_count`). */
const maxTerms = 65_536

const inSpaces = (spaces: readonly string[]): readonly Clause[] =>
  Array.from({ length: Math.ceil(spaces.length / maxTerms) }, (_, at) => terms('spaces', spaces.slice(at * maxTerms, (at + 1) * maxTerms)))
