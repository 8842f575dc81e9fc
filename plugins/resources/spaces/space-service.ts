import { Clock, configPort, DocumentStore, event, Ids, Invalid, NotFound, type SpaceRecord, type Stored, Users, wire } from 'pounce/sdk'
import { naturalKey, orNotFound, requireVersion, updateWithRetry } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { type StoredSpace, spaces } from './stored-spaces.ts'

const hourMs = 3_600_000

/** The fields that `POST /api/spaces/:id/update` changes. */
export interface SpaceUpdate {
  readonly name: string
  readonly description: string
  readonly timeToLiveHours: number | undefined
  readonly isTimeToLiveEnabled: boolean | undefined
  readonly access: 'PUBLIC' | 'PRIVATE' | undefined
}

/** Creates, updates and deletes spaces. */
export class SpaceService {
  #verifySpaces: boolean
  #documents: DocumentStore
  #users: Users
  #ids: Ids
  #clock: Clock

  constructor({ verifySpaces }: Settings, documents: DocumentStore, users: Users, ids: Ids, clock: Clock) {
    this.#verifySpaces = verifySpaces
    this.#documents = documents
    this.#users = users
    this.#ids = ids
    this.#clock = clock
  }

  /** The author becomes a member with the role Admin. */
  async create({ name, description, author }: { name: string; description: string; author: string }): Promise<SpaceRecord & Stored> {
    const id = this.#ids.next()
    const now = this.#clock.now().toISOString()
    const space: StoredSpace = {
      name,
      nameKey: naturalKey(name),
      description,
      author,
      created: now,
      modified: now,
      homePage: [],
      logoUrl: null,
      bannerUrl: null,
      access: this.#verifySpaces ? 'TRIAL' : 'PRIVATE',
      isPublic: false,
      timeToLiveMs: 720 * hourMs,
      isTimeToLiveEnabled: false,
      requests: [],
      state: 'live',
      spaces: [id],
    }
    const created = await this.#documents.commit({ insert: { id, ...space }, into: spaces }, [
      event('space.created', { kind: 'space', id }, {}, author),
    ])
    const admin = (await this.#users.roles()).find(role => role.name === 'Admin')
    if (admin) await this.#users.setMembership(author, id, admin.id, { actor: author })
    return created
  }

  /** The access level is unchanged while the space is on trial. `ifMatch` is the `If-Match` header of the client. */
  async update(id: string, wanted: SpaceUpdate, actor: string | undefined, ifMatch: string | undefined): Promise<void> {
    await updateWithRetry(this.#documents, spaces, { kind: 'space', id }, now => {
      requireVersion(ifMatch, 'space', now)
      const access = now.access === 'TRIAL' ? now.access : (wanted.access ?? now.access)
      const set = {
        name: wanted.name,
        description: wanted.description,
        timeToLiveMs: wanted.timeToLiveHours === undefined ? now.timeToLiveMs : wanted.timeToLiveHours * hourMs,
        isTimeToLiveEnabled: wanted.isTimeToLiveEnabled ?? now.isTimeToLiveEnabled,
        access,
        isPublic: access === 'PUBLIC',
      }
      const fields = Object.keys(set).filter(field => set[field as keyof typeof set] !== now[field as keyof typeof set])
      const sorted = { nameKey: naturalKey(wanted.name), modified: this.#clock.now().toISOString() }
      return fields.length === 0
        ? undefined
        : { set: { ...set, ...sorted }, events: [event('space.updated', { kind: 'space', id }, { fields }, actor)] }
    })
  }

  /** Ends the trial. */
  async verify(id: string, actor: string | undefined): Promise<void> {
    await updateWithRetry(this.#documents, spaces, { kind: 'space', id }, now => {
      if (now.access !== 'TRIAL') throw new Invalid('Only a space with status TRIAL can be verified')
      const subject = { kind: 'space', id } as const
      const events = [event('space.updated', subject, { fields: ['access'] }, actor), event('space.verified', subject, {}, actor)]
      return { set: { access: 'PRIVATE' as const }, events }
    })
  }

  /** The contents are kept, outside of the space. */
  async remove(id: string, actor: string | undefined): Promise<void> {
    const space = await this.#documents.get(spaces, id)
    if (!space) throw new NotFound('space')
    const removed = event('space.removed', { kind: 'space', id }, { name: space.name }, actor)
    await orNotFound('space', this.#documents.commit({ tombstone: id, in: spaces }, [removed]))
  }
}
wire(SpaceService, configPort(config), DocumentStore, Users, Ids, Clock)
