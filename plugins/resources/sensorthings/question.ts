import type { Caller } from 'pounce/sdk'

/** Query options as they were sent. */
export interface SentOptions {
  readonly $filter?: string
  readonly $expand?: string
  readonly $orderby?: string
  readonly $select?: string
  readonly $top?: number
  readonly $skip?: number
  readonly $count?: boolean
  readonly $skiptoken?: string
  readonly $resultFormat?: 'dataArray'
}

/** A request: who asks for what. */
export interface Question {
  readonly caller: Caller
  /** Below the root of the service, decoded: `Things(1)/Datastreams`. */
  readonly path: string
  readonly options: SentOptions
  /** Query parameters that every link goes on carrying, such as `superAdmin=true`. */
  readonly extras: readonly string[]
}
