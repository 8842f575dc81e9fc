import { CommitConflict, collection, DocumentStore, event, type Stored, type UserRecord, wire } from 'pounce/sdk'
import { type NotificationKind, type NotificationPreference, notificationKinds, personalRecords, wantsMail } from 'pounce/sdk/kit'

/**
 * `inbox`: in the inbox. `mail`: in the inbox, and an immediate email. `digest`: in the inbox and in the next digest. `off`: not at all.
 */
export const channels = ['inbox', 'mail', 'digest', 'off'] as const
export type NotificationChannel = (typeof channels)[number]

export type Preferences = Readonly<Record<NotificationKind, NotificationChannel>>

/** The channels that a user chose; the id is that of the account. Absent kinds have their default. */
interface PreferenceRecord {
  readonly channels: Readonly<Partial<Record<NotificationKind, NotificationChannel>>>
}

export const preferences = collection<PreferenceRecord>()('notifications.preferences')

export const PersonalPreferences = personalRecords({
  name: 'notification-preferences',
  summary: 'The channels that you chose for notifications.',
  in: preferences,
  isOf: (record, { id }) => record.id === id,
  show: record => ({ channels: record.channels }),
  erase: () => 'remove',
})

/** How often digests are sent. */
export type Every = Extract<NonNullable<UserRecord['notifications']>, 'hourly' | 'daily'>

/** The frequency set in the account; undefined for users who disabled digests. */
const accountEvery = ({ notifications }: Pick<UserRecord, 'notifications'>): Every | undefined =>
  notifications === 'hourly' || notifications === 'daily' ? notifications : undefined

/** Kinds that are not sent by email by default. */
const inboxOnly: ReadonlySet<NotificationKind> = new Set(['reply', 'extraction-failed', 'share', 'followed'])

/** The notification channels of users. */
export class StoredPreferences implements NotificationPreference {
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** The chosen channel of each kind, or its default, which depends on the account's `notifications`. */
  async of(user: UserRecord & Stored): Promise<Preferences> {
    const chosen = (await this.#documents.get(preferences, user.id))?.channels ?? {}
    const defaultOf = (kind: NotificationKind): NotificationChannel => {
      if (kind === 'followed' && accountEvery(user)) return 'digest'
      return wantsMail(user) && !inboxOnly.has(kind) ? 'mail' : 'inbox'
    }
    const channelOf = (kind: NotificationKind): NotificationChannel => chosen[kind] ?? defaultOf(kind)
    return Object.fromEntries(notificationKinds.map(kind => [kind, channelOf(kind)])) as Preferences
  }

  async wantsMail(user: UserRecord & Stored, kind: NotificationKind): Promise<boolean> {
    return user.status !== 'Inactive' && (await this.of(user))[kind] === 'mail'
  }

  /** How often a user receives digests; undefined if no kind is sent in them. Daily unless the account specifies hourly. */
  async everyOf(user: UserRecord & Stored): Promise<Every | undefined> {
    if (user.status === 'Inactive') return undefined
    const isWanted = Object.values(await this.of(user)).includes('digest')
    return isWanted ? (accountEvery(user) ?? 'daily') : undefined
  }

  /** Stores the channels of some kinds; others are unchanged. */
  async choose(user: string, chosen: PreferenceRecord['channels']): Promise<void> {
    for (;;) {
      const known = await this.#documents.get(preferences, user)
      const channelsNow = { ...known?.channels, ...chosen }
      try {
        const changed = [event('user.updated', { kind: 'user', id: user }, { fields: ['notifications'] }, user)]
        if (known) await this.#documents.commit({ replace: { ...known, channels: channelsNow }, in: preferences }, changed)
        else await this.#documents.commit({ insert: { id: user, channels: channelsNow }, into: preferences }, changed)
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(StoredPreferences, DocumentStore)
