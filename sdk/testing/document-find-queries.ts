import { overlongPiece } from '../documents/pieces.ts'
import { and, contains, eq, type Find, isIn, not, or, range, type Where } from '../ports/document-store.ts'

/** What such a caller may see. */
export const visible = (spaces: readonly string[], me: string): Where =>
  and(eq('state', 'live'), or(isIn('spaces', spaces), eq('author', me), eq('isPublic', true)))

export const everyIndex = ['byCreated', 'bySpace', 'byAuthor', 'byPublic']
export const newest = { by: 'created', order: 'descending' } as const
export const oldest = { by: 'created', order: 'ascending' } as const
const twelve = Array.from({ length: 12 }, (_, n) => `s${n}`)

const many = Array.from({ length: 60 }, (_, n) => `s${n}`)
const veryMany = Array.from({ length: 3000 }, (_, n) => `d${n + 2}`)

/** Queries whose pages must equal those of a full scan. */
export const queries: readonly (readonly [title: string, query: Omit<Find, 'limit'>])[] = [
  ['all by id', { using: 'byName' }],
  ['one name by id', { using: 'byName', where: eq('name', 'name 3') }],
  ['by a field, equal values by id', { using: 'byCreated', where: eq('state', 'live'), sort: oldest }],
  ['backwards', { using: 'byCreated', where: eq('state', 'live'), sort: newest }],
  ['without the first field of the index', { using: 'byCreated', sort: newest }],
  ['an index that ends in another field, by id', { using: 'byCreated', where: eq('state', 'live') }],
  ['over an array without a value, by id', { using: 'byPlace' }],
  ['one element of an array', { using: 'byPlace', where: eq('places.dataset', 'd2'), sort: newest }],
  ['several elements of an array', { using: 'byPlace', where: isIn('places.dataset', ['d0', 'd2', 'd9']), sort: newest }],
  ['in an empty list', { using: 'byPlace', where: isIn('places.dataset', []), sort: newest }],
  ['visible to a stranger', { using: everyIndex, where: visible([], 'nobody'), sort: newest }],
  ['visible to a member', { using: everyIndex, where: visible(['s3', 's7'], 'u1'), sort: newest }],
  ['visible to a member, oldest first', { using: everyIndex, where: visible(['s3', 's7'], 'u1'), sort: oldest }],
  ['visible to a member of all spaces', { using: everyIndex, where: visible(twelve, 'u1'), sort: newest }],
  ['visible to a member of many spaces', { using: everyIndex, where: visible(many, 'u1'), sort: newest }],
  ['visible to a member of many empty spaces', { using: everyIndex, where: visible(many.slice(12), 'nobody'), sort: newest }],
  [
    'overlapping alternatives',
    { using: 'byPlace', where: or(eq('places.dataset', 'd1'), isIn('places.dataset', ['d1', 'd2'])), sort: newest },
  ],
  ['in very many values', { using: 'byPlace', where: isIn('places.dataset', veryMany), sort: newest }],
  ['visible, with one index', { using: 'byCreated', where: visible(['s3'], 'u1'), sort: newest }],
  ['visible and more', { using: everyIndex, where: and(visible(['s3', 's7'], 'u1'), contains('name', 'AME 2')), sort: newest }],
  ['in many values', { using: ['byCreated', 'byAuthor'], where: and(eq('state', 'live'), isIn('author', ['u0', 'u3'])), sort: newest }],
  [
    'nested alternatives',
    { using: everyIndex, where: or(visible(['s1'], 'u2'), and(eq('state', 'trashed'), eq('author', 'u0'))), sort: newest },
  ],
  [
    'alternatives within alternatives',
    {
      using: everyIndex,
      where: and(eq('state', 'live'), or(or(isIn('spaces', ['s4']), eq('author', 'u4')), or(eq('isPublic', true)))),
      sort: newest,
    },
  ],
  [
    'a trigram of text',
    { using: 'byNamePiece', where: and(eq('state', 'live'), eq('name~', 'ame'), contains('name', 'AME 3')), sort: newest },
  ],
  [
    'trigrams of text',
    { using: 'byNamePiece', where: and(eq('state', 'live'), isIn('name~', ['ame', 'nam', overlongPiece])), sort: oldest },
  ],
  ['not', { using: 'byCreated', where: and(eq('state', 'live'), not(isIn('spaces', ['s1', 's2']))), sort: oldest }],
  [
    'a time range',
    {
      using: 'byCreated',
      where: and(eq('state', 'live'), range('created', { gte: '2023-11-14T22:13:30.000Z', lt: '2023-11-14T22:13:45.000Z' })),
      sort: newest,
    },
  ],
  ['without a value', { using: 'byCreated', where: and(eq('state', 'live'), eq('created', null)), sort: newest }],
  ['an empty array', { using: 'bySpace', where: and(eq('state', 'live'), eq('spaces', null)), sort: newest }],
  [
    'visible, with an index that omits documents without a space',
    { using: ['bySpaceOnly', 'byAuthor', 'byPublic'], where: visible(['s3', 's7'], 'u1'), sort: newest },
  ],
  [
    'in a space, with only an index that omits documents without a space',
    { using: 'bySpaceOnly', where: and(eq('state', 'live'), isIn('spaces', ['s3', 's7'])), sort: newest },
  ],
  [
    'with a value, with an index that omits documents without one',
    { using: 'byCreatedOnly', where: and(eq('state', 'live'), range('created', { gt: '' })), sort: newest },
  ],
  [
    'two elements of one array',
    { using: 'bySpace', where: and(eq('state', 'live'), eq('spaces', 's1'), eq('spaces', 's5')), sort: newest },
  ],
]
