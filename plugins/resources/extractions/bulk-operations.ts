import { authorize, type BulkOperations, Datasets, Files, type Kind, NotFound, Policy, wire } from 'pounce/sdk'
import type { BulkAct, BulkOperation, BulkRequest } from 'pounce/sdk/kit'
import { derivedId } from './job-message.ts'
import { type SubmissionRequest, SubmissionService } from './submission-service.ts'

/** Submits files and datasets for bulk jobs, as the routes for a single one do. */
export class SubmitMany implements BulkOperations {
  readonly #submissions: SubmissionService
  readonly #files: Files
  readonly #datasets: Datasets
  readonly #policy: Policy

  constructor(submissions: SubmissionService, files: Files, datasets: Datasets, policy: Policy) {
    this.#submissions = submissions
    this.#files = files
    this.#datasets = datasets
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    if (act !== 'submit') return undefined
    if (kind === 'file') return (request, id) => this.#submitFile(request, id)
    return kind === 'dataset' ? (request, id) => this.#submitDataset(request, id) : undefined
  }

  async #submitFile(request: BulkRequest, id: string): Promise<void> {
    await authorize(this.#policy, request.caller, 'EditFile', { kind: 'file', id })
    const file = await this.#files.get(id)
    if (!file) throw new NotFound('file')
    await this.#submissions.ofFile(file, submissionOf(request), derivedId(request.job, id))
  }

  async #submitDataset(request: BulkRequest, id: string): Promise<void> {
    await authorize(this.#policy, request.caller, 'EditDataset', { kind: 'dataset', id })
    const dataset = await this.#datasets.get(id)
    if (!dataset) throw new NotFound('dataset')
    await this.#submissions.ofDataset(dataset, submissionOf(request), derivedId(request.job, id))
  }
}
wire(SubmitMany, SubmissionService, Files, Datasets, Policy)

const submissionOf = ({ caller, parameters: { extractor, parameters = {} } }: BulkRequest): SubmissionRequest => ({
  extractor,
  parameters,
  user: caller.user?.id,
})
