#include "gen/tile.h"
int tile_shared_bytes(const tile_request *r, const ir_phase *phase) { (void)r; (void)phase; return 1024; }
