import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A self-signed certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** One DER element (X.690): tag, length, content. */
const der = (tag: number, ...content: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(content)
  const length = bytes.length < 128 ? [bytes.length] : [0x82, bytes.length >> 8, bytes.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), bytes])
}
const sequence = (...content: readonly Buffer[]): Buffer => der(0x30, ...content)
const octets = (content: Buffer): Buffer => der(0x04, content)
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content)
const object = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const time = (date: string): Buffer => der(0x17, Buffer.from(date))
const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`

const oids = { commonName: '550403', ecdsaWithSha256: '2a8648ce3d040302', alternativeNames: '551d11', basicConstraints: '551d13' }

/** Creates one for a host name, valid from 2020 to 2049. */
export const certificateFor = (host: string): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(object(oids.commonName), der(0x0c, Buffer.from(host)))))
  const isAuthority = sequence(
    object(oids.basicConstraints),
    der(0x01, Buffer.from([255])),
    octets(sequence(der(0x01, Buffer.from([255])))),
  )
  const names = sequence(object(oids.alternativeNames), octets(sequence(der(0x82, Buffer.from(host)))))
  const algorithm = sequence(object(oids.ecdsaWithSha256))
  const about = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    sequence(time('200101000000Z'), time('491231000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority, names)),
  )
  const cert = pem(sequence(about, algorithm, bits(sign('sha256', about, privateKey))))
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}
