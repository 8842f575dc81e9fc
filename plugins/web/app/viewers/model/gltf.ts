import { type Object3D, TextureLoader } from 'three'
import { MeshoptDecoder } from 'three/examples/jsm/libs/meshopt_decoder.module.js'
import { GLTFLoader, type GLTFParser } from 'three/examples/jsm/loaders/GLTFLoader.js'
import type { ViewerHost } from '../host.ts'
import { DracoMeshes } from './draco.ts'
import { Refusal } from './refusal.ts'

interface Linked {
  readonly uri?: unknown
}
interface Gltf {
  readonly buffers?: readonly Linked[]
  readonly images?: readonly Linked[]
  readonly extensionsRequired?: readonly string[]
  readonly accessors?: readonly { readonly count?: number }[]
}

/** Maximum number of elements in all accessors that a browser can handle. */
const maxValues = 50_000_000
/** Unsupported extensions, refused if required: GPU texture formats and point clouds. */
const unshown = ['KHR_texture_basisu', 'KHR_gaussian_splatting']

/** The JSON of a glTF, or of the first chunk of a GLB. */
const jsonOf = (bytes: Uint8Array): Gltf => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isBinary = bytes.length >= 20 && view.getUint32(0, true) === 0x46546c67
  const text = isBinary ? bytes.subarray(20, 20 + view.getUint32(12, true)) : bytes
  return JSON.parse(new TextDecoder().decode(text)) as Gltf
}

const isInside = ({ uri }: Linked): boolean => uri === undefined || (typeof uri === 'string' && uri.startsWith('data:'))

/** Refuses external links, unsupported extensions and models that are too large before anything is loaded. */
const check = (json: Gltf, { t }: ViewerHost): void => {
  const outside = [...(json.buffers ?? []), ...(json.images ?? [])].find(each => !isInside(each))
  if (outside) throw new Refusal(t('viewer.model.outside', { link: String(outside.uri).slice(0, 200) }))
  const extension = json.extensionsRequired?.find(each => unshown.includes(each))
  if (extension) throw new Refusal(t('viewer.model.extension', { name: extension }))
  const values = (json.accessors ?? []).reduce((sum, { count }) => sum + (Number(count) || 0), 0)
  if (values > maxValues) throw new Refusal(t('viewer.model.tooLarge'))
}

const bytesOf = (uri: string): ArrayBuffer => {
  const comma = uri.indexOf(',')
  const body = decodeURIComponent(uri.slice(comma + 1))
  const text = uri.slice(0, comma).endsWith(';base64') ? atob(body) : body
  return Uint8Array.from(text, each => each.charCodeAt(0)).buffer
}

/** Decodes embedded data directly, since the CSP of pages forbids fetching `data:` and `blob:` URLs. */
const withoutFetching = (parser: GLTFParser) => {
  const own = parser as GLTFParser & { textureLoader: TextureLoader; loadBuffer(index: number): Promise<ArrayBuffer> }
  own.textureLoader = new TextureLoader(parser.options.manager)
  const loadBuffer = own.loadBuffer.bind(own)
  own.loadBuffer = async index => {
    const { uri } = (parser.json as { readonly buffers: readonly { readonly uri?: string }[] }).buffers[index] ?? {}
    return uri === undefined ? loadBuffer(index) : bytesOf(uri)
  }
  return { name: 'POUNCE_no_fetching' }
}

export const loadGltf = async (bytes: Uint8Array, host: ViewerHost): Promise<Object3D> => {
  check(jsonOf(bytes), host)
  const loader = new GLTFLoader()
    .setMeshoptDecoder(MeshoptDecoder)
    .setDRACOLoader(new DracoMeshes() as never)
    .register(withoutFetching)
  const { scene } = await loader.parseAsync(bytes.slice().buffer, '')
  return scene
}
