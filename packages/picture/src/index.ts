export type { Capture } from './lines/line.ts'
export { pictureOf } from './views/picture-of.ts'
export type { PriceTable, TokenPrices } from './recorder/price-table.ts'
export { recorder } from './recorder/recorder.ts'
export type { RecordedMiddleware, Recorder } from './recorder/recorder.ts'
export type {
  RecordedRun,
  RecorderEvent,
  RecorderOptions,
  RecordingSink,
} from './recorder/recorder-options.ts'
export { replayOf } from './views/replay-of.ts'
export type { Replay, ReplayStep } from './views/replay-of.ts'
export { textOf } from './views/text-of.ts'
export { whereTheyPart } from './views/where-they-part.ts'
export type { Parting } from './views/where-they-part.ts'
