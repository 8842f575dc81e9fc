const reading = [
  'ViewSpace',
  'ViewDataset',
  'ViewCollection',
  'ViewFile',
  'ViewSection',
  'ViewMetadata',
  'ViewTags',
  'ViewComments',
  'ViewSensor',
  'ViewGeoStream',
  'ViewUser',
  'ViewVocabulary',
  'ViewVocabularyTerm',
] as const

const editing = [
  'CreateSpace',
  'AddResourceToSpace',
  'RemoveResourceFromSpace',
  'CreateDataset',
  'EditDataset',
  'PublicDataset',
  'AddResourceToDataset',
  'RemoveResourceFromDataset',
  'ExecuteOnDataset',
  'CreateCollection',
  'EditCollection',
  'AddResourceToCollection',
  'RemoveResourceFromCollection',
  'AddFile',
  'EditFile',
  'DownloadFiles',
  'EditLicense',
  'CreatePreview',
  'MultimediaIndexDocument',
  'CreateSection',
  'EditSection',
  'DeleteSection',
  'AddMetadata',
  'EditMetadata',
  'DeleteMetadata',
  'AddTag',
  'DeleteTag',
  'AddComment',
  'EditComment',
  'DeleteComment',
  'CreateSensor',
  'DeleteSensor',
  'AddGeoStream',
  'DeleteGeoStream',
  'AddDatapoints',
  'CreateRelation',
  'ViewRelation',
  'DeleteRelation',
  'CreateVocabulary',
  'EditVocabulary',
  'DeleteVocabulary',
  'CreateVocabularyTerm',
  'EditVocabularyTerm',
  'DeleteVocabularyTerm',
] as const

const ruling = [
  'DeleteSpace',
  'EditSpace',
  'PublicSpace',
  'EditStagingArea',
  'DeleteDataset',
  'DeleteCollection',
  'DeleteFile',
  'EditUser',
  'ArchiveFile',
  'ArchiveDataset',
] as const

/** A permission that Pounce itself declares (reference, api-platform §2). */
export type OwnPermission = (typeof reading)[number] | (typeof editing)[number] | (typeof ruling)[number]

/** The permissions that plugins declare, by declaration merging: `interface PluginPermissions { AnalyzeSpectrum: true }`. */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add the members
export interface PluginPermissions {}

/** A right that a role can hold. */
export type Permission = OwnPermission | keyof PluginPermissions

/** Those of Pounce that everyone has on everything of a public server, and on public resources of a private one. */
export const readingPermissions: ReadonlySet<Permission> = new Set(reading)
/** The roles that there are from the beginning. */
export type DefaultRole = 'Viewer' | 'Editor' | 'Admin'

/** What a Viewer, an Editor and an Admin of a space may do when the roles are first made. Archiving is the Admin's (seed). */
export const defaultRoles: Readonly<Record<DefaultRole, readonly OwnPermission[]>> = {
  Viewer: reading,
  Editor: [...reading, ...editing],
  Admin: [...reading, ...editing, ...ruling],
}

/** Every permission of Pounce itself. Those of plugins are in `Installation.permissions`. */
export const allPermissions: ReadonlySet<string> = new Set<string>(defaultRoles.Admin)

/** What a permission does to a resource: `manage` is about who may see or rule it, about members, and about spaces as such. */
export type Verb = 'read' | 'write' | 'delete' | 'manage'

type Reading = (typeof reading)[number] | 'DownloadFiles' | 'ViewRelation'
type Managing = 'CreateSpace' | 'EditSpace' | 'PublicSpace' | 'DeleteSpace' | 'PublicDataset' | 'EditUser' | 'EditStagingArea'
type Deleting = Exclude<Extract<OwnPermission, `Delete${string}` | `Remove${string}`>, Managing>
type VerbOf<P extends OwnPermission> = P extends Reading ? 'read' : P extends Managing ? 'manage' : P extends Deleting ? 'delete' : 'write'

/** The one verb of each permission of Pounce: what a key that is limited to verbs goes by. */
export const verbOf: { readonly [P in OwnPermission]: VerbOf<P> } = {
  ViewSpace: 'read',
  ViewDataset: 'read',
  ViewCollection: 'read',
  ViewFile: 'read',
  ViewSection: 'read',
  ViewMetadata: 'read',
  ViewTags: 'read',
  ViewComments: 'read',
  ViewSensor: 'read',
  ViewGeoStream: 'read',
  ViewUser: 'read',
  ViewVocabulary: 'read',
  ViewVocabularyTerm: 'read',
  CreateSpace: 'manage',
  AddResourceToSpace: 'write',
  RemoveResourceFromSpace: 'delete',
  CreateDataset: 'write',
  EditDataset: 'write',
  PublicDataset: 'manage',
  AddResourceToDataset: 'write',
  RemoveResourceFromDataset: 'delete',
  ExecuteOnDataset: 'write',
  CreateCollection: 'write',
  EditCollection: 'write',
  AddResourceToCollection: 'write',
  RemoveResourceFromCollection: 'delete',
  AddFile: 'write',
  EditFile: 'write',
  DownloadFiles: 'read',
  EditLicense: 'write',
  CreatePreview: 'write',
  MultimediaIndexDocument: 'write',
  CreateSection: 'write',
  EditSection: 'write',
  DeleteSection: 'delete',
  AddMetadata: 'write',
  EditMetadata: 'write',
  DeleteMetadata: 'delete',
  AddTag: 'write',
  DeleteTag: 'delete',
  AddComment: 'write',
  EditComment: 'write',
  DeleteComment: 'delete',
  CreateSensor: 'write',
  DeleteSensor: 'delete',
  AddGeoStream: 'write',
  DeleteGeoStream: 'delete',
  AddDatapoints: 'write',
  CreateRelation: 'write',
  ViewRelation: 'read',
  DeleteRelation: 'delete',
  CreateVocabulary: 'write',
  EditVocabulary: 'write',
  DeleteVocabulary: 'delete',
  CreateVocabularyTerm: 'write',
  EditVocabularyTerm: 'write',
  DeleteVocabularyTerm: 'delete',
  DeleteSpace: 'manage',
  EditSpace: 'manage',
  PublicSpace: 'manage',
  EditStagingArea: 'manage',
  DeleteDataset: 'delete',
  DeleteCollection: 'delete',
  DeleteFile: 'delete',
  EditUser: 'manage',
  ArchiveFile: 'write',
  ArchiveDataset: 'write',
}

/** A permission that a plugin adds: `definePlugin({ permissions: { AnalyzeSpectrum: … } })`. */
export interface PermissionDefinition {
  /** What it lets one do, for people who put roles together: `Run analyses of spectra`. */
  readonly description: string
  /** What it does to a resource. Keys that are limited to other verbs do not have it. */
  readonly verb: Verb
  /** The roles that get it when the plugin starts for the first time, once: one that an admin takes it from does not get it again. */
  readonly roles: readonly DefaultRole[]
  /** Everyone has it on what is public, and on all of a public server; ReadOnly accounts and extractors have it too. As `ViewDataset`. */
  readonly isReading?: true
}

/** Every permission there is: those of Pounce, and those of the plugins that run. */
export class PermissionCatalog {
  readonly #added: ReadonlyMap<string, PermissionDefinition>
  /** In the order in which they are listed. */
  readonly names: ReadonlySet<string>

  constructor(added: Iterable<readonly [name: string, definition: PermissionDefinition]> = []) {
    this.#added = new Map(added)
    this.names = new Set([...allPermissions, ...this.#added.keys()])
  }

  has(name: string): name is Permission {
    return this.names.has(name)
  }

  isReading(permission: Permission): boolean {
    return (readingPermissions as ReadonlySet<string>).has(permission) || this.#added.get(permission)?.isReading === true
  }

  /** Undefined of one that no plugin declares any more. */
  verbOf(permission: Permission): Verb | undefined {
    return Object.hasOwn(verbOf, permission) ? verbOf[permission as OwnPermission] : this.#added.get(permission)?.verb
  }

  /** Of one that a plugin declares. */
  descriptionOf(permission: Permission): string | undefined {
    return this.#added.get(permission)?.description
  }

  /** What plugins give a role of the beginning. */
  addedTo(role: DefaultRole): readonly string[] {
    return [...this.#added].flatMap(([name, { roles }]) => (roles.includes(role) ? [name] : []))
  }
}
