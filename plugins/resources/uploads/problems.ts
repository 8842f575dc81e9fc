import { Problem } from 'pounce/sdk'

/** 412: the request uses another version of tus, or none. */
export class OtherVersion extends Problem {
  constructor() {
    super(412, 'tus-version', 'The header Tus-Resumable must be 1.0.0')
  }
}

/** 410: an upload that expired without progress. */
export class UploadExpired extends Problem {
  constructor() {
    super(410, 'expired', 'This upload has expired: start a new upload')
  }
}

/** 423: another request is continuing the upload. */
export class UploadLocked extends Problem {
  constructor() {
    super(423, 'locked', 'Another request is writing to this upload: get its offset and continue from there')
  }
}

/** 460 (tus 1.0.0, Checksum): the bytes do not match the client's checksum. */
export class ChecksumMismatch extends Problem {
  constructor(message = 'Checksum mismatch; the received bytes were discarded') {
    super(460, 'checksum-mismatch', message)
  }
}
