/** What an audio or video file is made of. Absent: the file does not say. */
export interface MediaFacts {
  readonly container: string
  readonly durationSeconds?: number
  /** Bits a second, of the whole file. */
  readonly bitRate?: number
  readonly streams: readonly MediaStream[]
  readonly title?: string
  readonly artist?: string
  readonly album?: string
  readonly comment?: string
  /** ISO 8601. */
  readonly created?: string
  /** What is wrong with a file that can be read all the same. */
  readonly problem?: string
}

/** One track. Codecs are called as ffmpeg calls them. */
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
