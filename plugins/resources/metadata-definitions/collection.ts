import { collection, type Time } from 'pounce/sdk'
import { createdBy, personalRecords, transferred } from 'pounce/sdk/kit'

/** The scope of the installation, in place of a space's id. */
export const everywhere = 'global'

/** The name, meaning and accepted values of a metadata field. */
export interface DefinitionRecord {
  /** A space's id, or `everywhere`. */
  readonly scope: string
  readonly label: string
  readonly uri: string
  /** `string`, `datetime`, `list` … An unknown type is stored and not validated. */
  readonly type: string
  readonly description: string | null
  /** Where the terms of a list are. */
  readonly definitionsUrl: string | null
  readonly queryParameter: string | null
  /** Null for the definitions of a new installation. */
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
