import { CommitConflict, collection, DocumentStore, Invalid, type Json, type Person, type PersonalData, s, wire } from 'pounce/sdk'

/** A user's settings for clients. Its id is that of the account; stored separately, because every request reads the account. */
interface PreferencesRecord {
  readonly values: PreferenceValues
}

export type PreferenceValues = Readonly<Record<string, Json>>

export const preferences = collection<PreferencesRecord>()('users.preferences')

export const maxPreferenceBytes = 8192

const maxName = 64
const isName = (name: string): boolean => name.length <= maxName && /^[A-Za-z][\w-]*$/.test(name)

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object'

const shape =
  'Preferences have names of letters, digits, _ and -, and values that are text, numbers, true, false, null, lists of these, or objects of such values'

const check = (value: unknown, name: string, depth: number): void => {
  if (isPlain(value)) return
  if (Array.isArray(value)) {
    if (!value.every(isPlain)) throw new Invalid(`${name} is a list of lists or objects. ${shape}`)
    return
  }
  if (depth === 0) throw new Invalid(`${name} is nested too deeply. ${shape}`)
  for (const [member, of] of Object.entries(value as object)) {
    if (!isName(member)) throw new Invalid(`${JSON.stringify(member.slice(0, maxName))} in ${name} is not a name. ${shape}`)
    check(of, `${name}.${member}`, depth - 1)
  }
}

/** A JSON object of preferences, at most three objects deep: by client, page and setting. */
export const PreferencesJson = s.model(
  'ClientPreferences',
  s.Record(s.String(), s.Unknown(), {
    description: 'Set by clients as they need them, such as `language`, `theme`, `density`, `columns`',
  }),
  { language: 'de', theme: 'dark', density: 'compact', columns: { files: ['name', 'size'] } },
)

/** Preferences of users for clients, returned with every session. */
export class ClientPreferences {
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async of(user: string): Promise<PreferenceValues> {
    return (await this.#documents.get(preferences, user))?.values ?? {}
  }

  /** Replaces all preferences. Throws `Invalid` for invalid ones. */
  async replace(user: string, values: Readonly<Record<string, unknown>>): Promise<PreferenceValues> {
    check(values, 'the body', 3)
    const checked = values as PreferenceValues
    try {
      await this.#documents.commit({ insert: { id: user, values: checked }, into: preferences })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      await this.#documents.commit({ update: user, in: preferences, set: { values: checked } })
    }
    return checked
  }
}
wire(ClientPreferences, DocumentStore)

export class PersonalClientPreferences implements PersonalData {
  readonly name = 'preferences'
  readonly summary = 'Your preferences for the web interface and other clients.'
  readonly collections = [preferences.name]
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async *export({ id }: Person): AsyncIterable<object> {
    const found = await this.#documents.get(preferences, id)
    if (found) yield found.values
  }

  async erase({ person }: { readonly person: Person }): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: person.id, in: preferences })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
}
wire(PersonalClientPreferences, DocumentStore)
