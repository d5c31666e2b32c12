// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IVaaV1Receiver} from "./DropOffReceiver.sol";

/// Delivers messages to any contract, with coins and a drop-off, and remembers each delivery. Contracts that have no
/// view of their deliveries need it (docs/operate/executor.md). It has no owner and keeps no coins. Anyone may call it.
contract DeliveryRecord {
    mapping(bytes32 key => bool) public isDelivered;

    event Delivered(bytes32 indexed key, address indexed by);

    error AlreadyDelivered(bytes32 key);
    error DropOffFailed(address payee, uint256 dropOff);

    /// The key has everything that the payer pays for. So a stranger can only mark a delivery as done by paying for the
    /// same delivery.
    /// @param request names the paid request
    function deliver(bytes32 request, address receiver, bytes calldata vaa, address payee, uint256 dropOff)
        external
        payable
    {
        bytes32 key = keccak256(abi.encode(request, receiver, digestOf(vaa), msg.value, payee, dropOff));
        require(!isDelivered[key], AlreadyDelivered(key));
        isDelivered[key] = true;
        emit Delivered(key, msg.sender);
        IVaaV1Receiver(receiver).executeVAAv1{value: msg.value - dropOff}(vaa);
        if (dropOff == 0) return;
        (bool isPaid,) = payee.call{value: dropOff}("");
        require(isPaid, DropOffFailed(payee, dropOff));
    }

    /// The digest of the signed body, because the same message may come with other signatures. A VAA has its version, 4
    /// bytes of guardian set, the count of signatures, 66 bytes for each signature, and the body.
    function digestOf(bytes calldata vaa) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(keccak256(vaa[6 + 66 * uint256(uint8(vaa[5])):])));
    }
}
