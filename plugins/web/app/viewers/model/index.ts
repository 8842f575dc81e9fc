import {
  AmbientLight,
  Box3,
  BufferGeometry,
  DirectionalLight,
  DoubleSide,
  MathUtils,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  Points,
  PointsMaterial,
  Scene,
  Spherical,
  Vector3,
  WebGLRenderer,
} from 'three'
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js'
import { make, makeButton, makeStatus } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { Refusal } from './refusal.ts'
import '../viewers.css'

const step = Math.PI / 12

const geometryAsObject = (geometry: BufferGeometry): Object3D => {
  const hasColors = geometry.hasAttribute('color')
  if (!geometry.index && !geometry.hasAttribute('normal') && geometry.userData['isCloud'])
    return new Points(
      geometry,
      new PointsMaterial({ size: 2, sizeAttenuation: false, vertexColors: hasColors, ...(hasColors ? {} : { color: 0x6f9f97 }) }),
    )
  if (!geometry.hasAttribute('normal')) geometry.computeVertexNormals()
  const color = hasColors ? {} : { color: 0xb7b1a3 }
  return new Mesh(geometry, new MeshStandardMaterial({ side: DoubleSide, roughness: 0.8, vertexColors: hasColors, ...color }))
}

const load = async (bytes: Uint8Array, host: ViewerHost): Promise<Object3D> => {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 4))
  const name = host.thing.name.toLowerCase()
  if (start === 'glTF' || name.endsWith('.gltf') || host.thing.contentType.includes('gltf'))
    return (await import('./gltf.ts')).loadGltf(bytes, host)
  const buffer = bytes.slice().buffer
  if (start.startsWith('ply')) {
    const { PLYLoader } = await import('three/examples/jsm/loaders/PLYLoader.js')
    const geometry = new PLYLoader().parse(buffer)
    geometry.userData['isCloud'] = geometry.index === null
    return geometryAsObject(geometry)
  }
  if (name.endsWith('.obj')) {
    const { OBJLoader } = await import('three/examples/jsm/loaders/OBJLoader.js')
    const group = new OBJLoader().parse(new TextDecoder().decode(bytes))
    group.traverse(each => {
      if (each instanceof Mesh) each.material = new MeshStandardMaterial({ color: 0xb7b1a3, side: DoubleSide, roughness: 0.8 })
    })
    return group
  }
  const { STLLoader } = await import('three/examples/jsm/loaders/STLLoader.js')
  // The header of a binary STL determines its length.
  const isText = start.startsWith('soli')
  if (!isText && bytes.length !== 84 + 50 * new DataView(buffer).getUint32(80, true)) throw new RangeError('Not an STL')
  return geometryAsObject(new STLLoader().parse(buffer))
}

interface Counted {
  readonly triangles: number
  readonly vertices: number
}

const counted = (object: Object3D): Counted => {
  let triangles = 0
  let vertices = 0
  object.traverse(each => {
    const { geometry } = each as Partial<Mesh>
    if (!(geometry instanceof BufferGeometry)) return
    const count = geometry.getAttribute('position')?.count ?? 0
    vertices += count
    if (each instanceof Mesh) triangles += Math.floor((geometry.index?.count ?? count) / 3)
  })
  return { triangles, vertices }
}

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const { t } = host
  const bytes = await host.read(0, host.thing.sizeBytes)
  let object: Object3D
  try {
    object = await load(bytes, host)
  } catch (cause) {
    if (cause instanceof Refusal) throw new Error(cause.message)
    throw new Error(t('viewer.model.damaged'), { cause })
  }
  host.signal.throwIfAborted()
  const { triangles, vertices } = counted(object)
  const box = new Box3().setFromObject(object)
  if (vertices === 0 || box.isEmpty()) throw new Error(t('viewer.model.empty'))
  if (![...box.min, ...box.max].every(Number.isFinite)) throw new Error(t('viewer.model.damaged'))
  return draw(element, host, object, box, { triangles, vertices })
}

const makeRenderer = (t: ViewerHost['t']): WebGLRenderer => {
  const context = document.createElement('canvas').getContext('webgl2')
  if (!context) throw new Error(t('viewer.model.noGraphics'))
  return new WebGLRenderer({ antialias: true, alpha: true })
}

/** Parses "0.5,1.2,1": the angles and the distance of the camera. */
const placeOf = (text: string | undefined): readonly number[] | undefined => {
  const numbers = (text ?? '').split(',').map(Number)
  return numbers.length === 3 && numbers.every(Number.isFinite) ? numbers : undefined
}

const draw = (element: HTMLElement, host: ViewerHost, object: Object3D, box: Box3, { triangles, vertices }: Counted): (() => void) => {
  const { t, language } = host
  const renderer = makeRenderer(t)
  const size = box.getSize(new Vector3())
  const radius = Math.max(size.length() / 2, Number.EPSILON)
  object.position.sub(box.getCenter(new Vector3()))
  const scene = new Scene()
  const camera = new PerspectiveCamera(40, 1, radius / 100, radius * 100)
  const lamp = new DirectionalLight(0xffffff, 2.2)
  lamp.position.set(1, 1.5, 2)
  camera.add(lamp)
  scene.add(object, camera, new AmbientLight(0xffffff, 1.2))
  const stage = make('div', {
    className: 'view-stage',
    tabIndex: 0,
    attributes: { role: 'application', 'aria-label': t('viewer.model.stage', { name: host.thing.name }) },
  })
  const status = makeStatus()
  const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 4 })
  const whole = new Intl.NumberFormat(language)
  status.textContent = t('viewer.model.about', {
    triangles: whole.format(triangles),
    vertices: whole.format(vertices),
    size: size
      .toArray()
      .map(each => number.format(each))
      .join(' × '),
  })
  const controls = new OrbitControls(camera, renderer.domElement)
  const home = { theta: 0.6, phi: 1.1, far: radius * 3.2 }
  const look = (theta: number, phi: number, far: number): void => {
    camera.position.setFromSpherical(
      new Spherical(Math.min(radius * 50, Math.max(radius * 0.05, far)), Math.min(3.1, Math.max(0.04, phi)), theta),
    )
    controls.update()
    render()
  }
  const turn = (across: number, up: number): void => {
    const now = new Spherical().setFromVector3(camera.position)
    look(now.theta + across, now.phi + up, now.radius)
  }
  const near = (factor: number): void => {
    const now = new Spherical().setFromVector3(camera.position)
    look(now.theta, now.phi, now.radius * factor)
  }
  const reset = (): void => {
    controls.target.set(0, 0, 0)
    look(home.theta, home.phi, home.far)
  }
  let isQueued = 0
  const render = (): void => {
    cancelAnimationFrame(isQueued)
    isQueued = requestAnimationFrame(() => renderer.render(scene, camera))
  }
  const remember = (): void => {
    const now = new Spherical().setFromVector3(camera.position)
    host.state.set([now.theta, now.phi, now.radius / radius].map(each => String(Math.round(each * 100) / 100)).join(','))
  }
  const resize = (): void => {
    const { clientWidth, clientHeight } = stage
    if (clientWidth === 0 || clientHeight === 0) return
    renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1))
    renderer.setSize(clientWidth, clientHeight, false)
    camera.aspect = clientWidth / clientHeight
    // In a narrow window, the model must fit the width.
    camera.fov = camera.aspect < 1 ? 2 * MathUtils.radToDeg(Math.atan(Math.tan(MathUtils.degToRad(20)) / camera.aspect)) : 40
    camera.updateProjectionMatrix()
    render()
  }
  const acts: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => turn(-step, 0),
    ArrowRight: () => turn(step, 0),
    ArrowUp: () => turn(0, -step),
    ArrowDown: () => turn(0, step),
    '+': () => near(0.8),
    '-': () => near(1.25),
    '0': reset,
  }
  stage.addEventListener('keydown', event => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key]
    if (!act) return
    event.preventDefault()
    act()
    remember()
  })
  const pressed = (key: string) => () => {
    acts[key]?.()
    remember()
  }
  const bar = make(
    'div',
    { className: 'view-bar', attributes: { role: 'group', 'aria-label': t('viewer.controls') } },
    make(
      'span',
      { className: 'group' },
      makeButton(t('viewer.model.left'), pressed('ArrowLeft'), '←'),
      makeButton(t('viewer.model.right'), pressed('ArrowRight'), '→'),
      makeButton(t('viewer.model.up'), pressed('ArrowUp'), '↑'),
      makeButton(t('viewer.model.down'), pressed('ArrowDown'), '↓'),
    ),
    make(
      'span',
      { className: 'group' },
      makeButton(t('viewer.zoomOut'), pressed('-'), '−'),
      makeButton(t('viewer.zoomIn'), pressed('+'), '+'),
      makeButton(t('viewer.all'), pressed('0')),
    ),
  )
  renderer.domElement.setAttribute('aria-hidden', 'true')
  stage.append(renderer.domElement)
  const view = make('div', { className: 'view-box' }, bar, status, stage)
  element.append(view)
  controls.addEventListener('change', render)
  controls.addEventListener('end', remember)
  const resized = new ResizeObserver(resize)
  resized.observe(stage)
  const [theta = home.theta, phi = home.phi, far] = placeOf(host.state.get()) ?? []
  look(theta, phi, far === undefined ? home.far : far * radius)
  resize()
  return () => {
    resized.disconnect()
    controls.dispose()
    cancelAnimationFrame(isQueued)
    object.traverse(each => (each as Partial<Mesh>).geometry?.dispose())
    renderer.dispose()
    renderer.forceContextLoss()
    view.remove()
  }
}
