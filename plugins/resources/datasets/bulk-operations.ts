import { authorize, type BulkOperations, type Kind, type Permission, Policy, wire } from 'pounce/sdk'
import { type BulkAct, type BulkOperation, type BulkRequest, ownLicense } from 'pounce/sdk/kit'
import { DatasetEdits } from './dataset-edits.ts'
import { DatasetTrash } from './dataset-trash.ts'

/** What bulk jobs do to datasets, as the routes of one dataset do. */
export class DatasetBulkOperations implements BulkOperations {
  readonly #edits: DatasetEdits
  readonly #trash: DatasetTrash
  readonly #policy: Policy
  readonly #operations: Partial<Record<BulkAct, BulkOperation>> = {
    delete: (request, id) => this.#delete(request, id),
    describe: (request, id) => this.#write(request, id, 'EditDataset', { description: request.parameters.description ?? '' }),
    license: (request, id) => this.#write(request, id, 'EditLicense', { license: request.parameters.license ?? ownLicense }),
  }

  constructor(edits: DatasetEdits, trash: DatasetTrash, policy: Policy) {
    this.#edits = edits
    this.#trash = trash
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    return kind === 'dataset' ? this.#operations[act] : undefined
  }

  /** A dataset in the trash is refused, so that neither a bulk job nor its repetition deletes permanently. */
  async #delete({ caller }: BulkRequest, id: string): Promise<void> {
    await authorize(this.#policy, caller, 'DeleteDataset', { kind: 'dataset', id }, 'frozen')
    await this.#trash.discard(id, caller.user?.id)
  }

  async #write({ caller }: BulkRequest, id: string, permission: Permission, set: Parameters<DatasetEdits['write']>[1]): Promise<void> {
    await authorize(this.#policy, caller, permission, { kind: 'dataset', id })
    await this.#edits.write(id, set, { actor: caller.user?.id, ifMatch: undefined })
  }
}
wire(DatasetBulkOperations, DatasetEdits, DatasetTrash, Policy)
