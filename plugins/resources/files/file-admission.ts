import {
  anonymousUserId,
  authorize,
  type Caller,
  type Contributions,
  CredentialRefs,
  type FileIngest,
  Folders,
  Forbidden,
  Invalid,
  NotFound,
  NotSignedIn,
  Policy,
  type StorageQuota,
  StorageQuotas,
  s,
  wire,
} from 'pounce/sdk'
import { type ChargedTo, type IngestOptions, type IngestTarget, maxFolderDepth, requirePlaced } from 'pounce/sdk/kit'

const chargedTo = ({ user }: Caller, dataset: string | undefined): ChargedTo => ({
  author: user?.id ?? anonymousUserId,
  datasets: dataset === undefined ? [] : [dataset],
})

/** Decides whether files may be added to a location. The right and the state of the dataset come from one read by the policy. */
export class FileAdmission {
  #policy: Policy
  #credentials: CredentialRefs
  #folders: Folders
  #quotas: Contributions<StorageQuota>

  constructor(policy: Policy, credentials: CredentialRefs, folders: Folders, quotas: Contributions<StorageQuota>) {
    this.#policy = policy
    this.#credentials = credentials
    this.#folders = folders
    this.#quotas = quotas
  }

  /** Called before the bytes are received; see `FileIngest.admit`. */
  async admit(...[caller, target, amount, { isAuthorized = false } = {}]: Parameters<FileIngest['admit']>): Promise<void> {
    if (target) {
      requirePlaced(caller, target.dataset !== undefined)
      if (!isAuthorized) await this.#authorize(caller, target)
      await this.#requireFolder(target)
    }
    if (amount) for (const quota of this.#quotas.all()) await quota.check(chargedTo(caller, target?.dataset), amount)
  }

  /**
   * Called after the bytes are received. That can take hours, in which keys can be revoked, accounts suspended and members leave spaces: the
   * current rights apply.
   */
  async admitAsOfNow(caller: Caller, target: IngestTarget): Promise<void> {
    requirePlaced(caller, target.dataset !== undefined)
    await this.#authorize(await this.#asOfNow(caller), target)
    await this.#requireFolder(target)
  }

  /** Charges files to the quotas, all or none. */
  async reserve(caller: Caller, { dataset }: IngestTarget, files: Parameters<StorageQuota['reserve']>[1]): Promise<void> {
    for (const quota of this.#quotas.all()) await quota.reserve(chargedTo(caller, dataset), files)
  }

  /** The target, once the folders of the path exist; they are created after all other checks have passed. */
  async placed(caller: Caller, { path, ...options }: IngestOptions): Promise<IngestOptions> {
    const { dataset, folder } = options
    if (path === undefined || path.length === 0 || dataset === undefined) return options
    const parent = folder === undefined ? ({ kind: 'dataset', id: dataset } as const) : ({ kind: 'folder', id: folder } as const)
    const { id } = await this.#folders.ensure({
      dataset,
      parent,
      path,
      author: caller.user?.id ?? anonymousUserId,
      isToldApart: options.batch !== undefined,
    })
    return { ...options, folder: id }
  }

  async release(file: string): Promise<void> {
    for (const quota of this.#quotas.all()) await quota.release([file])
  }

  async #authorize(caller: Caller, { dataset }: IngestTarget): Promise<void> {
    if (dataset !== undefined) await authorize(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: dataset })
    else if (this.#policy.can(caller, 'AddFile') !== 'yes') throw new Forbidden('Permission denied: AddFile required')
  }

  async #requireFolder({ dataset, folder, path = [] }: IngestTarget): Promise<void> {
    if (dataset === undefined && path.length > 0) throw new Invalid('A path with folders requires the dataset of the folders')
    if (folder === undefined) return
    if (dataset === undefined) throw new Invalid('folder_id requires the dataset of the folder')
    const found = s.isId(folder) ? await this.#folders.get(folder) : undefined
    if (found?.dataset !== dataset) throw new NotFound('folder')
    if (path.length === 0) return
    const above = (await this.#folders.paths([folder])).get(folder)
    if (!above) throw new NotFound('folder')
    if (above.length + path.length > maxFolderDepth) throw new Invalid(`Folders can be nested at most ${maxFolderDepth} levels deep`)
  }

  async #asOfNow(caller: Caller): Promise<Caller> {
    if (!caller.user) return caller
    const now = await this.#credentials.callerOf(await this.#credentials.of(caller))
    if (!now?.user) throw new NotSignedIn('The account was suspended, or its key or session ended, during the upload')
    return { ...caller, user: now.user, superAdmin: now.superAdmin }
  }
}
wire(FileAdmission, Policy, CredentialRefs, Folders, StorageQuotas)
