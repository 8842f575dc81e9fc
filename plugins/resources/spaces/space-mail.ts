import {
  type After,
  fullNameOf,
  Installation,
  Invalid,
  Log,
  Mailer,
  Spaces,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  wantsMail,
  wire,
} from 'pounce/sdk'

type User = UserRecord & Stored
type Told = 'space.member-changed' | 'space.request-rejected' | 'space.verified' | 'space.removed'

/** Members that are written to about one space at most. */
const mostMembers = 1000
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 900)

/** Writes to those whom a change of a space concerns, as Clowder 1.x does; each gets a mail of their own. After a crash some may get one twice. */
export class SpaceMail {
  #spaces: Spaces
  #users: Users
  #mailer: Mailer
  #installation: Installation
  #log: Log

  constructor(spaces: Spaces, users: Users, mailer: Mailer, installation: Installation, log: Log) {
    this.#spaces = spaces
    this.#users = users
    this.#mailer = mailer
    this.#installation = installation
    this.#log = log
  }

  async handle(told: StoredEvent<Told>): Promise<void> {
    const { id } = told.subject
    const actor = told.actor === undefined ? undefined : await this.#users.get(told.actor)
    const who = actor ? fullNameOf(actor) : 'The server'
    if (told.type === 'space.removed') {
      const { name } = told.data as StoredEvent<'space.removed'>['data']
      return this.#write(await this.#users.admins(), `${who} deleted the space ${name}`)
    }
    const space = await this.#spaces.get(id)
    if (!space) return
    const link = `${this.#installation.baseUrl}/spaces/${id}`
    if (told.type === 'space.verified') return this.#tell(await this.#members(id), `The space ${space.name} has been verified`, link)
    const { user, ...about } = told.data as StoredEvent<'space.member-changed'>['data'] | StoredEvent<'space.request-rejected'>['data']
    const change = 'change' in about ? about.change : 'rejected'
    const member = await this.#users.get(user)
    if (!member || change === 'role' || change === 'removed') return
    if (change === 'added') return this.#tell(user === told.actor ? [] : [member], `${who} added you to the space ${space.name}`, link)
    const done = change === 'accepted' ? 'accepted' : 'rejected'
    await this.#tell([member], `Your request to join the space ${space.name} was ${done}`, link)
    const editors = (await this.#editors(id)).filter(editor => editor.id !== user)
    await this.#tell(editors, `The request of ${fullNameOf(member)} to join the space ${space.name} was ${done}`, link)
  }

  async #members(space: string): Promise<readonly User[]> {
    const members: User[] = []
    let after: After | undefined
    do {
      const page = await this.#users.membersOf(space, { limit: 200, ...(after ? { after } : {}) })
      members.push(...page.items)
      after = page.next
    } while (after && members.length < mostMembers)
    return members
  }

  async #editors(space: string): Promise<readonly User[]> {
    const editing = new Set((await this.#users.roles()).filter(role => role.permissions.includes('EditSpace')).map(role => role.id))
    const members = await this.#members(space)
    return members.filter(({ memberships }) => memberships.some(held => held.space === space && editing.has(held.role)))
  }

  /** What concerns people as members, if they want mails. */
  #tell(to: readonly User[], said: string, link: string): Promise<void> {
    return this.#write(to.filter(wantsMail), said, link)
  }

  async #write(to: readonly User[], said: string, link?: string): Promise<void> {
    const subject = oneLine(said)
    for (const { id, email, status } of to) {
      if (status === 'Inactive') continue
      try {
        await this.#mailer.send({ to: [email], subject, text: `${subject}.\n${link ? `\n${link}\n` : ''}` })
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        this.#log.warn('a mail about a space cannot be written', { user: id, error })
      }
    }
  }
}
wire(SpaceMail, Spaces, Users, Mailer, Installation, Log)
