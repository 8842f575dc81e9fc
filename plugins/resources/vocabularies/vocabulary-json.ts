import { type Stored, s } from 'pounce/sdk'
import type { Term, VocabularyRecord } from './collections.ts'

export const TermJson = s.model(
  'VocabularyTerm',
  s.Object({
    vocab_term_id: s.String(),
    key: s.String(),
    default_value: s.String(),
    units: s.String(),
    description: s.String(),
  }),
)

/** A vocabulary with its terms; lists are text with commas, as in Clowder 1.x. */
export const FullJson = s.model(
  'Vocabulary',
  s.Object({
    id: s.String(),
    author: s.String(),
    name: s.String(),
    terms: s.Array(TermJson),
    keys: s.String(),
    tags: s.String(),
    description: s.String(),
    isPublic: s.String({ description: '`true` or `false`, as text' }),
    spaces: s.String(),
  }),
)

export const ShortJson = s.model(
  'VocabularySummary',
  s.Object({
    id: s.String(),
    author: s.String(),
    name: s.String(),
    keys: s.Array(s.String()),
    description: s.String(),
    spaces: s.Array(s.String()),
  }),
)

export const toTerm = ({ id, key, defaultValue, units, description }: Term): s.Static<typeof TermJson> => ({
  vocab_term_id: id,
  key,
  default_value: defaultValue,
  units,
  description,
})

export const toFull = (vocabulary: VocabularyRecord & Stored): s.Static<typeof FullJson> => ({
  id: vocabulary.id,
  author: vocabulary.author,
  name: vocabulary.name,
  terms: vocabulary.terms.map(toTerm),
  keys: vocabulary.keys.join(','),
  tags: vocabulary.tags.join(','),
  description: vocabulary.description,
  isPublic: String(vocabulary.isPublic),
  spaces: vocabulary.spaces.join(','),
})

export const toShort = ({ id, author, name, keys, description, spaces }: VocabularyRecord & Stored): s.Static<typeof ShortJson> => ({
  id,
  author,
  name,
  keys: [...keys],
  description,
  spaces: [...spaces],
})
