/** The resource kinds that Pounce itself declares. */
export type OwnKind =
  | 'space'
  | 'collection'
  | 'dataset'
  | 'folder'
  | 'file'
  | 'section'
  | 'preview'
  | 'thumbnail'
  | 'metadata'
  | 'comment'
  | 'user'
  | 'group'
  | 'role'
  | 'extractor'
  | 'job'
  | 'key'
  | 'definition'
  | 'vocabulary'
  | 'term'
  | 'relation'
  | 'sensor'
  | 'stream'

/** Resource kinds declared by plugins, by declaration merging: `interface PluginKinds { instrument: true }`. */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add the members
export interface PluginKinds {}

/** A kind of resource that can have rights, tags, metadata or events, or be their subject. */
export type Kind = OwnKind | keyof PluginKinds

/** A reference to one resource. */
export interface Ref {
  readonly kind: Kind
  readonly id: string
}

/**
 * The lifecycle states of a resource. `importing`: being created below a parent and not yet visible. `trashed`: kept with a date, excluded from all lists,
 * searches and counts. A deleted resource has no record.
 */
export const lifeStates = ['live', 'trashed', 'importing'] as const
/** A state of `lifeStates`. */
export type LifeState = (typeof lifeStates)[number]
