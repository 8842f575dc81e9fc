/** Properties of an audio or video file. Absent when the file does not specify them. */
export interface MediaProperties {
  readonly container: string
  readonly durationSeconds?: number
  /** Bits per second of the whole file. */
  readonly bitRate?: number
  readonly streams: readonly MediaStream[]
  readonly title?: string
  readonly artist?: string
  readonly album?: string
  readonly comment?: string
  /** ISO 8601. */
  readonly created?: string
  /** A problem of a file that is readable nevertheless. */
  readonly problem?: string
}

/** One track. Codecs have ffmpeg's names. */
export interface MediaStream {
  readonly kind: string
  readonly codec: string
  readonly durationSeconds?: number
  readonly bitRate?: number
  readonly language?: string
  readonly channels?: number
  readonly sampleRate?: number
  readonly bitsPerSample?: number
  readonly width?: number
  readonly height?: number
  readonly framesPerSecond?: number
}
