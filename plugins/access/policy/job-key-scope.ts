import type { CallerJob, Kind, Permission, Ref } from 'pounce/sdk'
import { jobAddingPermissions } from './permission-sets.ts'
import type { RightsGraph } from './rights-graph.ts'

/** Kinds that something is uploaded as and attached next. Those of others can be looked at, not described again. */
const derivedKinds: ReadonlySet<Kind> = new Set<Kind>(['preview', 'thumbnail'])

/** How far the key of a job reaches now: its file may have left the dataset that it was submitted for. */
export class JobKeyScope {
  readonly #job: CallerJob
  readonly #dataset: string | undefined

  /** `targets` holds the target of a job that names a dataset. */
  constructor(job: CallerJob, targets: RightsGraph) {
    this.#job = job
    const parents = targets.of(job.target)?.parents ?? []
    this.#dataset = parents.some(({ kind, id }) => kind === 'dataset' && id === job.dataset) ? job.dataset : undefined
  }

  /** True of the target and of what lies below it, of what the job uploaded to attach it, and, to read and add, of the dataset that holds the target. */
  includes(permission: Permission, ref: Ref, graph: RightsGraph): boolean {
    const { target, id } = this.#job
    const above = graph.above(ref).filter(step => graph.exists(step.ref))
    if (above.some(step => isSame(step.ref, target))) return true
    if (above[0]?.rights.job === id) return true
    const { kind } = ref
    const isAdding = jobAddingPermissions.has(permission) && !(permission === 'AddFile' && derivedKinds.has(kind))
    return isAdding && above.some(step => step.ref.kind === 'dataset' && step.ref.id === this.#dataset)
  }
}

const isSame = (one: Ref, other: Ref): boolean => one.kind === other.kind && one.id === other.id
