import { readLines } from '../lines/read-lines.ts'
import { RecordingReader } from './recording-reader.ts'
import type { RunPicture } from './run-picture.ts'

/** The outermost runs of a recording. */
export function readRecording(recording: string): readonly RunPicture[] {
  const reader = new RecordingReader()
  for (const line of readLines(recording).lines) reader.add(line)
  return reader.runs
}
