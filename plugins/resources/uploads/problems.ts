import { Problem } from 'pounce/sdk'

/** 412: the request speaks another version of tus, or does not say which. */
export class OtherVersion extends Problem {
  constructor() {
    super(412, 'tus-version', 'The header Tus-Resumable must be 1.0.0')
  }
}

/** 410: an upload that was given up because nothing came for too long. */
export class Expired extends Problem {
  constructor() {
    super(410, 'expired', 'This upload has expired: begin anew')
  }
}

/** 423: another request goes on with the upload. */
export class Locked extends Problem {
  constructor() {
    super(423, 'locked', 'Another request adds to this upload: ask for its offset and go on from there')
  }
}

/** 460 (tus 1.0.0, Checksum): the bytes are not those that the client sent. */
export class ChecksumMismatch extends Problem {
  constructor(message = 'The bytes that came have another checksum than announced; none of them counts') {
    super(460, 'checksum-mismatch', message)
  }
}
