/* What programs on AMD's matrix units share (templates/frame/frame_interleaved.h). */
#ifndef TFGEN_GEN_WAVES_H
#define TFGEN_GEN_WAVES_H
#include "gen/program/program.h"

int wave_groups(const target_info *target, int threads); /* workgroups per unit that give each SIMD two waves, at least 1 */
#endif
