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

/** Permissions declared by plugins, by declaration merging: `interface PluginPermissions { AnalyzeSpectrum: true }`. */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add the members
export interface PluginPermissions {}

/** A permission that a role can grant. */
export type Permission = OwnPermission | keyof PluginPermissions

/** Pounce's permissions that everyone has on everything on a public server, and on public resources on a private one. */
export const readingPermissions: ReadonlySet<Permission> = new Set(reading)
/** The roles of a new installation. */
export type DefaultRole = 'Viewer' | 'Editor' | 'Admin'

/** The initial permissions of Viewers, Editors and Admins of a space. Archiving is reserved to Admins (seed). */
export const defaultRoles: Readonly<Record<DefaultRole, readonly OwnPermission[]>> = {
  Viewer: reading,
  Editor: [...reading, ...editing],
  Admin: [...reading, ...editing, ...ruling],
}

/** Every permission that Pounce itself declares. For plugins' permissions see `Installation.permissions`. */
export const allPermissions: ReadonlySet<string> = new Set<string>(defaultRoles.Admin)

/** The effect of a permission. `manage` concerns visibility, administration, members, and spaces as such. */
export type Verb = 'read' | 'write' | 'delete' | 'manage'

type Reading = (typeof reading)[number] | 'DownloadFiles' | 'ViewRelation'
type Managing = 'CreateSpace' | 'EditSpace' | 'PublicSpace' | 'DeleteSpace' | 'PublicDataset' | 'EditUser' | 'EditStagingArea'
type Deleting = Exclude<Extract<OwnPermission, `Delete${string}` | `Remove${string}`>, Managing>
type VerbOf<P extends OwnPermission> = P extends Reading ? 'read' : P extends Managing ? 'manage' : P extends Deleting ? 'delete' : 'write'

/** The verb of each of Pounce's permissions, for keys limited to verbs. */
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

/** A permission added by a plugin: `definePlugin({ permissions: { AnalyzeSpectrum: … } })`. */
export interface PermissionDefinition {
  /** What it allows, for people who edit roles: `Run analyses of spectra`. */
  readonly description: string
  /** Its effect on a resource. Keys limited to other verbs do not have the permission. */
  readonly verb: Verb
  /** The roles that get it when the plugin first starts, only once: if an admin removes it from a role, it is not added again. */
  readonly roles: readonly DefaultRole[]
  /** Like `ViewDataset`: everyone has it on public resources and on all resources of a public server, including ReadOnly accounts and extractors. */
  readonly isReading?: true
}

/** All permissions of Pounce and of the loaded plugins. */
export class PermissionCatalog {
  readonly #added: ReadonlyMap<string, PermissionDefinition>
  /** In display order. */
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

  /** Undefined if no plugin declares the permission any more. */
  verbOf(permission: Permission): Verb | undefined {
    return Object.hasOwn(verbOf, permission) ? verbOf[permission as OwnPermission] : this.#added.get(permission)?.verb
  }

  /** The description of a plugin's permission. */
  descriptionOf(permission: Permission): string | undefined {
    return this.#added.get(permission)?.description
  }

  /** The permissions that plugins add to a default role. */
  addedTo(role: DefaultRole): readonly string[] {
    return [...this.#added].flatMap(([name, { roles }]) => (roles.includes(role) ? [name] : []))
  }
}
