import {
  type After,
  type AnyEvent,
  Comments,
  Datasets,
  type EventType,
  Files,
  type Ref,
  Spaces,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import { Inbox, type NewNotification } from './inbox.ts'

type NotifyingEventType = Extract<
  EventType,
  | 'comment.mentioned'
  | 'comment.added'
  | 'space.member-changed'
  | 'space.join-requested'
  | 'space.request-rejected'
  | 'space.invited'
  | 'space.invitation-ended'
  | 'dataset.attached'
  | 'extraction.status'
  | 'webhook.paused'
>

export const notifiedEvents: readonly NotifyingEventType[] = [
  'comment.mentioned',
  'comment.added',
  'space.member-changed',
  'space.join-requested',
  'space.request-rejected',
  'space.invited',
  'space.invitation-ended',
  'dataset.attached',
  'extraction.status',
  'webhook.paused',
]

type Composers = { readonly [T in NotifyingEventType]: (event: StoredEvent<T>) => Promise<readonly (NewNotification | undefined)[]> }

const pauseReasons: Readonly<Record<string, string>> = {
  gone: 'its target answered 410 Gone',
  backlog: 'too many deliveries were waiting',
  'owner-without-rights': 'you no longer have the rights that it needs',
}
const maxEditors = 200

/**
 * Notifies users of events that concern them. The emails about mentions, invitations and memberships are sent by the respective plugins.
 */
export class NotifyUsers {
  readonly #inbox: Inbox
  readonly #users: Users
  readonly #spaces: Spaces
  readonly #datasets: Datasets
  readonly #files: Files
  readonly #comments: Comments

  constructor(inbox: Inbox, users: Users, spaces: Spaces, datasets: Datasets, files: Files, comments: Comments) {
    this.#inbox = inbox
    this.#users = users
    this.#spaces = spaces
    this.#datasets = datasets
    this.#files = files
    this.#comments = comments
  }

  async handle(event: StoredEvent<NotifyingEventType>): Promise<void> {
    const compose = this.#composers[event.type] as (event: AnyEvent) => ReturnType<Composers[NotifyingEventType]>
    for (const notification of await compose(event as AnyEvent)) if (notification) await this.#inbox.notify(notification)
  }

  readonly #composers: Composers = {
    'comment.mentioned': async ({ id, subject, actor = null, data: { target, comment } }) => {
      const title = `mentioned you in a comment on ${await this.#titleOf(target)}`
      const common = { user: subject.id, actor, about: target, named: actor, title, path: pathOf(target), isMailedElsewhere: true }
      // A mention in a reply to the same user is one notification.
      return [{ ...common, key: `comment ${comment ?? id}`, kind: 'mention', ...(comment !== undefined && { comment }) }]
    },
    'comment.added': async ({ subject, actor = null, data: { target } }) => {
      const comment = await this.#comments.get(subject.id)
      const parent = comment?.parent == null ? undefined : await this.#comments.get(comment.parent)
      if (!comment || !parent) return []
      const title = `replied to your comment on ${await this.#titleOf(target)}`
      // The subject is the comment itself, so that the notification is deleted with it.
      const common = { user: parent.author, actor, about: subject, named: actor, title, text: comment.text, path: pathOf(target) }
      return [{ ...common, key: `comment ${subject.id}`, kind: 'reply' }]
    },
    'space.member-changed': async ({ id, subject, actor = null, data: { user, change, withSpace, isAnswer } }) => {
      if (isAnswer) return []
      const space = await this.#titleOf(subject)
      // A removed member may no longer be able to view the space, its current name and its members.
      if (change === 'removed')
        return [
          user === actor || user === withSpace?.by
            ? undefined
            : {
                ...{ key: id, user, kind: 'role-change', actor: null, about: null, path: '/' },
                title: `You were removed from ${withSpace ? `the space ${withSpace.name}, which was deleted` : 'a space'}`,
                isMailedElsewhere: withSpace === undefined,
              },
        ]
      const common = { key: id, user, actor, about: subject, path: pathOf(subject), isMailedElsewhere: true }
      if (change === 'accepted') return [{ ...common, kind: 'request', title: `Your request to join ${space} was accepted` }]
      if (change === 'added') return [{ ...common, kind: 'role-change', named: actor, title: `added you to ${space}` }]
      return [{ ...common, kind: 'role-change', named: actor, title: `changed your role in ${space}` }]
    },
    'space.join-requested': async ({ id, subject, data: { user } }) => {
      const title = `requests to join ${await this.#titleOf(subject)}`
      const common = {
        key: id,
        kind: 'request',
        actor: user,
        about: subject,
        named: user,
        title,
        path: pathOf(subject),
        isMailedElsewhere: true,
      } as const
      return (await this.#editors(subject.id)).map(editor => ({ ...common, user: editor }))
    },
    'space.request-rejected': async ({ id, subject, actor = null, data: { user } }) => {
      const title = `Your request to join ${await this.#titleOf(subject)} was rejected`
      return [{ key: id, user, kind: 'request', actor, about: subject, title, path: pathOf(subject), isMailedElsewhere: true }]
    },
    'space.invited': async ({ id, subject, actor = null, data: { user, invitation } }) => {
      if (user === undefined) return []
      // An invitation includes the right to see the name of the space.
      const title = `invites you to ${await this.#titleOf(subject)}`
      // Invitations are answered on the home page: the space itself may be hidden until then.
      const common = { key: id, user, actor, about: null, named: actor, title, path: '/' }
      return [{ ...common, kind: 'invitation', lasting: invitation, isMailedElsewhere: true }]
    },
    'space.invitation-ended': async ({ data: { invitation, user } }) => {
      if (user !== undefined) await this.#inbox.end(user, invitation)
      return []
    },
    'dataset.attached': async ({ id, subject, actor = null, data: { other } }) => {
      const dataset = await this.#datasets.get(subject.id)
      if (!dataset || other.kind !== 'space') return []
      const isSeen = await this.#inbox.sees(dataset.author, other)
      const title = `added your dataset ${dataset.name} to ${isSeen ? await this.#titleOf(other) : 'a space'}`
      const common = { key: id, user: dataset.author, actor, about: subject, named: actor, title, path: pathOf(subject) }
      return [{ ...common, kind: 'share', ...(isSeen && { related: other }) }]
    },
    'extraction.status': async ({ at, data: { target, extractor, state } }) => {
      if (state !== 'failed') return []
      const owner = target.kind === 'file' ? (await this.#files.get(target.id))?.author : (await this.#datasets.get(target.id))?.author
      if (owner === undefined) return []
      const title = `An extraction of ${await this.#titleOf(target)} failed (${extractor})`
      // Several failures on one resource within an hour are one notification.
      const key = `failed ${target.id} ${at.slice(0, 13)}`
      return [{ key, user: owner, kind: 'extraction-failed', actor: null, about: target, title, path: pathOf(target) }]
    },
    'webhook.paused': async ({ id, subject, data: { webhook, reason, host, description = '', days = 7 } }) => {
      const name = description === '' ? `Your webhook to ${host}` : `Your webhook ${description} to ${host}`
      const why =
        reason === 'failing' ? `all deliveries failed for ${days} ${days === 1 ? 'day' : 'days'}` : (pauseReasons[reason] ?? reason)
      const resume = `PUT {"active": true} to /api/webhooks/${webhook}`
      const text = reason === 'owner-without-rights' ? `Users who have these rights can resume it: ${resume}.` : `${resume} resumes it.`
      const title = `${name} was paused: ${why}`
      return [{ key: id, user: subject.id, kind: 'webhook-paused', actor: null, about: null, title, text, path: '/' }]
    },
  }

  /** Such as `the dataset Soil cores`; users see the title only while they may view the resource. */
  async #titleOf({ kind, id }: Ref): Promise<string> {
    const sources = { space: this.#spaces, dataset: this.#datasets, file: this.#files } as const
    const name = kind in sources ? (await sources[kind as keyof typeof sources].get(id))?.name : undefined
    return `the ${kind}${name === undefined ? '' : ` ${name}`}`
  }

  async #editors(space: string): Promise<readonly string[]> {
    const found: string[] = []
    let after: After | undefined
    do {
      const page = await this.#users.peopleOf(space, { limit: 200, ...(after && { after }) })
      for (const person of page.items)
        if ((await this.#users.membershipsOf(person)).some(held => held.space === space && held.permissions.has('EditSpace')))
          found.push(person.id)
      after = page.next
    } while (after && found.length < maxEditors)
    return found
  }
}
wire(NotifyUsers, Inbox, Users, Spaces, Datasets, Files, Comments)

const pages: Readonly<Partial<Record<Ref['kind'], string>>> = {
  space: 'spaces',
  dataset: 'datasets',
  file: 'files',
  collection: 'collection',
}
/** The page of a resource; the home page for one without. */
export const pathOf = ({ kind, id }: Ref): string => (pages[kind] === undefined ? '/' : `/${pages[kind]}/${id}`)
