// Scenes of nvtx_actor.
#pragma once

#include <functional>
#include <map>
#include <string>

using Scene = std::function<int(int count, char** words)>;
void add_payload_scenes(std::map<std::string, Scene>& scenes);
void add_ending_scenes(std::map<std::string, Scene>& scenes);
