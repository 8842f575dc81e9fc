import type { Ref } from '../model/kind.ts'
import { port } from '../port.ts'

/** What people are notified of, and choose a channel for. */
export const notificationKinds = [
  'mention',
  'reply',
  'invitation',
  'request',
  'role-change',
  'extraction-failed',
  'share',
  'followed',
  'webhook-paused',
] as const
/** A kind of `notificationKinds`. */
export type NotificationKind = (typeof notificationKinds)[number]

/** Something that concerns one person. */
export interface NewNotification {
  /** 24 hex digits, derived from the event and the person: notifying twice is notifying once. */
  readonly id: string
  /** User id of who is notified. */
  readonly user: string
  readonly kind: NotificationKind
  /** User id of who caused it; null for the system. Nobody is notified of what they did themselves. */
  readonly actor: string | null
  /** What it is about. It is shown and mailed only while the person may view it; null for what needs no right. */
  readonly about: Ref | null
  /** One line for a person, at most 900 characters: `Ann Lovelace mentioned you in a comment on the dataset Soil cores`. */
  readonly title: string
  /** More for the mail, such as the comment; at most 10,000 characters. */
  readonly text?: string
  /** Below the address of the installation, such as `/datasets/5f0c…`. */
  readonly path: string
}

/** Notifies people by the channels that they chose: inbox, mail at once, digest, off. */
export interface Notifications {
  /** Durable when it resolves. Called from event handlers, so that the outbox repeats it. */
  notify(notifications: readonly NewNotification[]): Promise<void>
}
export const Notifications = port<Notifications>('notifications')
