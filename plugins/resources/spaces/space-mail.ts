import {
  type After,
  type Contributions,
  configPort,
  Installation,
  Invalid,
  Log,
  Mailer,
  NotificationPreferences,
  type SignUpWay,
  SignUpWays,
  type SpaceRecord,
  Spaces,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import {
  fullNameOf,
  type IndividualMail,
  IndividualMails,
  type NotificationKind,
  type NotificationPreference,
  wantsMailOf,
} from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { Invitations } from './invitations.ts'

type User = UserRecord & Stored

type SpaceEvent = 'space.member-changed' | 'space.join-requested' | 'space.request-rejected' | 'space.verified' | 'space.removed'

/** Maximum number of members who are notified about one space. */
const maxMembers = 1000

/** User-supplied text as a part of a subject. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 900)

/**
 * Notifies users affected by a change of a space, as Clowder 1.x does, each with an email of their own. After a crash, or if another server
 * repeats the event, some may receive it twice.
 */
export class SpaceMail {
  #spaces: Spaces
  #users: Users
  #preferences: Contributions<NotificationPreference>
  #mails: IndividualMails
  #installation: Installation

  constructor(
    spaces: Spaces,
    users: Users,
    preferences: Contributions<NotificationPreference>,
    mailer: Mailer,
    installation: Installation,
    log: Log,
  ) {
    this.#spaces = spaces
    this.#users = users
    this.#preferences = preferences
    this.#mails = new IndividualMails(mailer, log)
    this.#installation = installation
  }

  async handle(event: StoredEvent<SpaceEvent>): Promise<void> {
    await this.#mails.send(event.id, await this.#mailsAbout(event))
  }

  async #mailsAbout(event: StoredEvent<SpaceEvent>): Promise<readonly IndividualMail[]> {
    const { id } = event.subject
    const actor = event.actor === undefined ? undefined : await this.#users.get(event.actor)
    const who = actor ? fullNameOf(actor) : 'The server'
    if (event.type === 'space.removed') {
      const { name } = event.data as StoredEvent<'space.removed'>['data']
      return mailsTo(await this.#users.admins(), `${who} deleted the space ${name}`)
    }
    const space = await this.#spaces.get(id)
    if (!space) return []
    const link = `${this.#installation.baseUrl}/spaces/${id}`
    if (event.type === 'space.verified')
      return mailsTo(await this.#wanting('role-change', await this.#members(id)), `The space ${space.name} has been verified`, link)
    return this.#mailsAboutMember(space, link, who, event as StoredEvent<Exclude<SpaceEvent, 'space.verified' | 'space.removed'>>)
  }

  async #mailsAboutMember(
    { id, name }: SpaceRecord & Stored,
    link: string,
    who: string,
    { type, actor, data }: StoredEvent<'space.member-changed' | 'space.join-requested' | 'space.request-rejected'>,
  ): Promise<readonly IndividualMail[]> {
    const member = await this.#users.get(data.user)
    if (!member) return []
    const change = 'change' in data ? data.change : type === 'space.join-requested' ? 'asked' : 'rejected'
    const others = actor === member.id || ('isAnswer' in data && data.isAnswer) ? [] : [member]
    // Somebody who was removed before the email could be sent may not know the current name of the space.
    const still = others.filter(({ memberships }) => memberships.some(({ space }) => space === id))
    const editors = async () =>
      this.#wanting(
        'request',
        (await this.#editors(id)).filter(editor => editor.id !== member.id && editor.id !== actor),
      )
    switch (change) {
      case 'added': {
        const message = 'message' in data ? data.message : undefined
        return mailsTo(await this.#wanting('role-change', still), `${who} added you to the space ${name}`, link, message)
      }
      case 'role': {
        const sentence = `${who} gave you the role ${await this.#roleOf(member, id)} in the space ${name}`
        return mailsTo(await this.#wanting('role-change', still), sentence, link)
      }
      case 'removed':
        // With a deleted space: `resources.notifications` sends that.
        if ('withSpace' in data && data.withSpace) return []
        return mailsTo(await this.#wanting('role-change', others), `${who} removed you from the space ${name}`, link)
      case 'asked':
        return mailsTo(await editors(), `${fullNameOf(member)} requests to join the space ${name}`, link)
      default:
        return [
          ...mailsTo(await this.#wanting('request', [member]), `Your request to join the space ${name} was ${change}`, link),
          ...mailsTo(await editors(), `The request of ${fullNameOf(member)} to join the space ${name} was ${change}`, link),
        ]
    }
  }

  async #roleOf(member: User, space: string): Promise<string> {
    const own = member.memberships.filter(held => held.space === space)
    return (await this.#users.membershipsOf({ memberships: own }))[0]?.roleName ?? 'of nobody'
  }

  async *#peopleOf(space: string): AsyncIterable<User> {
    let after: After | undefined
    do {
      const page = await this.#users.peopleOf(space, { limit: 200, ...(after ? { after } : {}) })
      yield* page.items
      after = page.next
    } while (after)
  }

  async #members(space: string): Promise<readonly User[]> {
    const members: User[] = []
    for await (const member of this.#peopleOf(space)) if (members.push(member) === maxMembers) break
    return members
  }

  async #editors(space: string): Promise<readonly User[]> {
    const editors: User[] = []
    for await (const member of this.#peopleOf(space)) {
      const memberships = await this.#users.membershipsOf(member)
      if (memberships.some(one => one.space === space && one.permissions.has('EditSpace'))) editors.push(member)
    }
    return editors
  }

  /** The users who want emails of a kind. */
  async #wanting(kind: NotificationKind, some: readonly User[]): Promise<readonly User[]> {
    const wanting: User[] = []
    for (const user of some) if (await wantsMailOf(this.#preferences, user, kind)) wanting.push(user)
    return wanting
  }
}
wire(SpaceMail, Spaces, Users, NotificationPreferences, Mailer, Installation, Log)

const mailsTo = (to: readonly User[], sentence: string, link?: string, message?: string): readonly IndividualMail[] => {
  const subject = oneLine(sentence)
  const text = `${subject}.\n${message ? `\n${message}\n` : ''}${link ? `\n${link}\n` : ''}`
  return to.filter(({ status }) => status !== 'Inactive').map(user => ({ user, subject, text }))
}

/** Sends invitations; after a crash some may be sent twice. */
export class InvitationMail {
  #days: number
  #signUps: Contributions<SignUpWay>
  #invitations: Invitations
  #spaces: Spaces
  #users: Users
  #preferences: Contributions<NotificationPreference>
  #mailer: Mailer
  #installation: Installation
  #log: Log

  constructor(
    { invitationDays }: Settings,
    signUps: Contributions<SignUpWay>,
    invitations: Invitations,
    spaces: Spaces,
    users: Users,
    preferences: Contributions<NotificationPreference>,
    mailer: Mailer,
    installation: Installation,
    log: Log,
  ) {
    this.#days = invitationDays
    this.#signUps = signUps
    this.#invitations = invitations
    this.#spaces = spaces
    this.#users = users
    this.#preferences = preferences
    this.#mailer = mailer
    this.#installation = installation
    this.#log = log
  }

  async handle({ subject, data }: StoredEvent<'space.invited'>): Promise<void> {
    const [found, space] = await Promise.all([this.#invitations.get(data.invitation), this.#spaces.get(subject.id)])
    if (!found || !space) return
    const [author, user] = await Promise.all([this.#users.get(found.author), this.#users.byEmail(found.email)])
    if (user && !(await wantsMailOf(this.#preferences, user, 'invitation'))) return
    const sentence = oneLine(`${author ? fullNameOf(author) : 'Someone'} invites you to the space ${space.name}`)
    const way = user ? `Sign in to accept:\n\n${this.#installation.baseUrl}/` : await this.#wayFor(found.email)
    const text = [
      `${sentence}.`,
      ...(found.message ? [found.message] : []),
      way,
      'If you do not know what this is about, there is nothing to do.',
    ]
    try {
      await this.#mailer.send({ to: [found.email], subject: sentence, text: `${text.join('\n\n')}\n` })
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      this.#log.warn('Failed to send an invitation', { invitation: found.id, error })
    }
  }

  async #wayFor(email: string): Promise<string> {
    const link = await this.#signUps.all()[0]?.linkFor(email, this.#days)
    return link === undefined
      ? 'You have no account here yet: sign in with that of your institution, or ask an admin for one. With this address you join at once.'
      : `Sign up to join, within ${this.#days} days:\n\n${link}`
  }
}
wire(InvitationMail, configPort(config), SignUpWays, Invitations, Spaces, Users, NotificationPreferences, Mailer, Installation, Log)
