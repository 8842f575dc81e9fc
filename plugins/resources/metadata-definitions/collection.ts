import { collection, type Time } from 'pounce/sdk'
import { createdBy, personalRecords, transferred } from 'pounce/sdk/kit'

/** Stands for the installation where a space's id stands otherwise. */
export const everywhere = 'global'

/** What a field of metadata is called, what it means, and what it takes. */
export interface DefinitionRecord {
  /** A space's id, or `everywhere`. */
  readonly scope: string
  readonly label: string
  readonly uri: string
  /** `string`, `datetime`, `list` … Another word is kept and not checked. */
  readonly type: string
  readonly description: string | null
  /** Where the words of a list are. */
  readonly definitionsUrl: string | null
  readonly queryParameter: string | null
  /** Null for those that came with the installation. */
  readonly author: string | null
  readonly created: Time
}

export const definitions = collection<DefinitionRecord>()('metadata-definitions', {
  byScope: { on: ['scope', 'label'] },
  byLabel: { on: ['label', 'scope'] },
  byUri: { on: ['scope', 'uri'], unique: true },
})

export const PersonalDefinitions = personalRecords({
  name: 'metadata-definitions',
  summary: 'Metadata definitions that you created.',
  in: definitions,
  ...createdBy<DefinitionRecord>('label', 'uri', 'type', 'description', 'created'),
  erase: transferred(),
})
